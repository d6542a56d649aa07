/// Methods that end several calls at once.
extension NetworkRequesting {
    /// Ends every call, and returns when all of them have returned: see ``NetworkClient/reset()``.
    public func reset() async {
        await client.reset()
    }

    /// Cancels the calls in progress for whose endpoints `shouldCancel` returns true: see
    /// ``NetworkClient/cancelAll(where:)``.
    @discardableResult
    public func cancelAll(where shouldCancel: (any Endpoint) -> Bool = { _ in true }) -> Int {
        client.cancelAll(where: shouldCancel)
    }
}
