/// Ending calls together.
extension NetworkRequesting {
    /// Ends every call and returns when all have returned: see ``NetworkClient/reset()``.
    public func reset() async {
        await client.reset()
    }

    /// Cancels every call under way whose endpoint the closure names: see ``NetworkClient/cancelAll(where:)``.
    @discardableResult
    public func cancelAll(where shouldCancel: (any Endpoint) -> Bool = { _ in true }) -> Int {
        client.cancelAll(where: shouldCancel)
    }
}
