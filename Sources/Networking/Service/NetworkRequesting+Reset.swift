/// Methods that end several calls at once.
extension NetworkRequesting {
    /// Ends every call, and returns when all of them have returned: see ``NetworkClient/reset()``.
    public func reset() async {
        await client.reset()
    }

    /// Cancels each call in progress if `shouldCancel` returns true for its endpoint: see
    /// ``NetworkClient/cancelAll(where:)``.
    @discardableResult
    public func cancelAll(where shouldCancel: (any Endpoint) -> Bool = { _ in true }) -> Int {
        client.cancelAll(where: shouldCancel)
    }
}
