extension SharedTransfer {
    /// A caller that waits for a transfer.
    struct Caller: Sendable {
        let transfer: SharedTransfer
        let waiter: Settlement<HTTPResponse>
        private let isBeginner: Bool

        /// Creates a transfer, with the caller that begins it.
        ///
        /// - Parameter running: The registry of transfers. The transfer is removed from the registry when no further
        ///   caller can attach, before any caller gets the result.
        init(beginning key: DuplicateKey, in running: RunningTransfers) {
            waiter = Waiter()
            transfer = SharedTransfer(key, in: running, for: waiter)
            isBeginner = true
        }

        init(joining transfer: SharedTransfer, _ waiter: Settlement<HTTPResponse>) {
            self.transfer = transfer
            self.waiter = waiter
            isBeginner = false
        }

        /// Detaches a caller that has not begun to wait.
        func leave() {
            transfer.detach(waiter, leaving: nil)
        }

        /// Waits for the response. The options of the response's request are those of `request`, not those of the
        /// caller that began the transfer.
        func response(to request: HTTPRequest) async throws -> HTTPResponse {
            do { return own(try await waiter.value(), to: request) } catch { throw left(with: error, request) }
        }

        private func own(_ answer: HTTPResponse, to request: HTTPRequest) -> HTTPResponse {
            guard !isBeginner else { return answer }
            var response = answer
            var own = answer.request.leavingCall()
            own.options = request.options
            own.headers = own.headers.withSources(of: request.headers)
            response.isShared = true
            response.request = own.inCall(of: request).leavingOrigin(of: request)
            return response
        }

        /// Not inlined, because large locals would become part of the async function that waits, and every waiting call
        /// retains the frame of that function.
        @inline(never)
        private func left(with error: any Error, _ request: HTTPRequest) -> any Error {
            transfer.detach(waiter, leaving: request.parts.transfer?.admission)
            return (error as? NetworkError)?.completed(request: request, response: nil) ?? error
        }
    }
}
