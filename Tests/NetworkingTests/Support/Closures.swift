import Networking

/// A request adapter made of a closure.
struct ClosureAdapter: RequestAdapter {
    private let change: @Sendable (inout HTTPRequest, any Endpoint) async throws -> Void

    /// Makes an adapter of a closure.
    init(_ change: @escaping @Sendable (inout HTTPRequest, any Endpoint) async throws -> Void) {
        self.change = change
    }

    /// Calls the closure.
    func adapt(_ request: inout HTTPRequest, for endpoint: any Endpoint) async throws {
        try await change(&request, endpoint)
    }
}

/// An error handler made of a closure.
struct ClosureErrorHandler: ErrorHandler {
    private let answer: @Sendable (RequestFailure) async -> ErrorHandlingResult

    /// Makes a handler of a closure.
    init(_ answer: @escaping @Sendable (RequestFailure) async -> ErrorHandlingResult) {
        self.answer = answer
    }

    /// Calls the closure.
    func handle(_ failure: RequestFailure) async -> ErrorHandlingResult {
        await answer(failure)
    }
}
