public import Foundation

/// Ending calls together.
extension NetworkRequesting {
    /// Ends every call and returns when all have returned: see ``NetworkClient/reset()``.
    public func reset() async {
        await client.reset()
    }

    /// Ends every call, and calls a closure on the main actor when all have returned.
    @preconcurrency
    public func reset(completion: @escaping @MainActor @Sendable () -> Void) {
        reset(on: .main) { MainActor.assumeIsolated { completion() } }
    }

    /// Ends every call, and calls a closure on a queue when all have returned.
    @preconcurrency
    public func reset(on queue: DispatchQueue, completion: @escaping @Sendable () -> Void) {
        let client = client
        // Not detached: the call that it is made from, if it is, is spared.
        Task {
            await client.reset()
            queue.async(execute: completion)
        }
    }

    /// Cancels every call under way whose endpoint the closure names: see ``NetworkClient/cancelAll(where:)``.
    @discardableResult
    public func cancelAll(where isMeant: (any Endpoint) -> Bool = { _ in true }) -> Int {
        client.cancelAll(where: isMeant)
    }
}
