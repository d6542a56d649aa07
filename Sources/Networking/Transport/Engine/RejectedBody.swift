import Foundation

/// What a call decides about its responses.
///
/// If the call rejects the status, the status is the outcome of the attempt, whatever happens to the body. The body is
/// needed only for the text of the error, so it is read only within the limits of ``RejectedBody``. The body of a
/// redirect that is followed is not needed at all.
protocol ResponseRules: AnyObject, Sendable {
    /// The statuses that the validators of the call accept: one set for each validator that checks the status.
    var accepted: [AcceptedStatuses] { get }
    /// The maximum number of bytes of a response in memory.
    var maximumSize: Int { get }
    /// Whether the call follows redirects.
    var followsRedirects: Bool { get }
    /// Whether the call is never repeated if the server may have executed its request.
    var reportsDoubt: Bool { get }
    /// The clock of the call's client.
    var clock: NetworkClock { get }
    /// How the session of the call recognises a refusal of its token; nil if the client has no session.
    var refusal: RefusalRule? { get }

    /// Whether a validator of the call rejects a status.
    func reject(_ status: HTTPStatus) -> Bool
}

extension HTTPRequest {
    /// Whether the call is never repeated if the server may have executed its request.
    var reportsDoubt: Bool { parts.transfer?.rules?.reportsDoubt ?? false }

    /// Whether an engine may send the request again, although the server may have executed it. The method must be
    /// idempotent, and the body must be readable again. The request must have no condition of a write, which is false
    /// after the server has executed the request once. The call must allow a repetition.
    var isRepeatable: Bool {
        method.isIdempotent && body.isReplayable && !headers.hasWriteCondition && !reportsDoubt
    }
}

/// The limits for the body of a rejected response, and for the body of a redirect that is followed.
enum RejectedBody {
    /// The maximum number of bytes: 1 MiB, which is enough for the text of an error.
    static let maximumSize = HTTPStatus.rejectedBodySize
    /// The maximum time without a byte.
    static let idle = Duration.seconds(5)
    /// The maximum time from the head to the end of the body.
    static let total = Duration.seconds(30)
    /// The maximum size of the body of a redirect that is followed, in bytes. After a complete body, the next request
    /// can use the connection, so most bodies are read to the end.
    static let redirectSize = 64 << 10
    /// The maximum time from the head to the end of the body of a redirect that is followed.
    static let redirectTotal = Duration.milliseconds(250)
}

extension TransferContext {
    /// Returns whether the call rejects a response because of its status: its session considers the response a refusal
    /// of its token, or a validator does not accept the status.
    func rejects(_ response: HTTPResponse) -> Bool {
        rules?.reject(response.status) ?? false || isRefusal(headOf: response)
    }

    /// Returns whether the limits of a rejected body apply to the body that follows a head. They apply if the call
    /// rejects the response, or follows its redirect. If the status is a success, the session is not asked, because
    /// every call would then have to create a response for the session.
    func limitsBody(after head: ResponseHead, to request: HTTPRequest) -> Bool {
        if rules?.reject(head.status) ?? false { return true }
        if follows(head) { return true }
        return !head.status.isSuccessful
            && isRefusal(headOf: HTTPResponse(head.status, headers: head.headers, to: request))
    }

    /// Whether the call follows the redirect of a head.
    func follows(_ head: ResponseHead) -> Bool {
        head.status.location(in: head.headers) != nil && rules?.followsRedirects ?? false
    }

    /// The clock that measures the limits of a rejected body.
    var clock: NetworkClock { rules?.clock ?? .continuous }

    /// The maximum number of bytes of a rejected body in memory.
    var maximumRejectedSize: Int { min(RejectedBody.maximumSize, max(rules?.maximumSize ?? .max, 0)) }
}

extension IncomingBody {
    /// Reads the body of a rejected response within the limits of ``RejectedBody``.
    ///
    /// - Parameter limit: The maximum number of bytes.
    /// - Returns: The bytes that have arrived, and the reason why the body is cut off. The reason is nil if the body is
    ///   complete.
    func rejected(upTo limit: Int, on clock: NetworkClock) async -> (bytes: Data, cutOff: String?) {
        let received = Locked(Data())
        let end = Settlement<String?>()
        let timer = RejectedBodyTimer.start(on: clock) { end.settle(.success($0)) }
        // The body is read in a separate task, because the body of an app's transport may not notice that its reader
        // has stopped waiting.
        let reading = Task {
            do {
                for try await chunk in unmapped {
                    timer.noteBytes()
                    let isTooLong = received.withLock { bytes in
                        let room = limit - bytes.count
                        bytes.append(chunk.prefix(room))
                        return chunk.count > room
                    }
                    if isTooLong { throw NetworkError.responseTooLarge(limit: limit) }
                }
                end.settle(.success(nil))
            } catch { end.settle(.success(NetworkError.wrapping(error).cutOffReason)) }
        }
        defer {
            timer.end()
            reading.cancel()
        }
        // If the call ends meanwhile, the outcome of the call is the reason for its end, and the body is no longer
        // needed.
        let reason = (try? await end.value()) ?? nil
        return (received.withLock { $0 }, reason)
    }
}

extension HTTPResponse {
    /// Returns the response with its body in memory. If the call rejects the response because of its status, the body
    /// is read within the limits of ``RejectedBody``.
    ///
    /// - Parameter limit: The maximum number of bytes of a body that is not rejected.
    /// - Throws: The errors of ``collected(upTo:)``, unless the call rejects the response.
    func inMemory(upTo limit: Int) async throws -> HTTPResponse {
        guard let context = request.parts.transfer, context.rejects(self) else {
            return try await collected(upTo: limit)
        }
        return await readingRejectedBody(in: context)
    }

    /// Returns the response with its body in memory, which is read within the limits of ``RejectedBody``.
    func readingRejectedBody(in context: TransferContext) async -> HTTPResponse {
        let limit = context.maximumRejectedSize
        guard content.isPending(upTo: limit), let body = try? content.stream else { return self }
        let (bytes, reason) = await body.rejected(upTo: limit, on: context.clock)
        var response = self
        response.content = .data(bytes)
        response.cutOff = reason
        return response
    }

    /// Returns the response with the part of its body that has arrived, and the reason why the rest is missing.
    func cutOff(by error: NetworkError, keeping limit: Int) -> HTTPResponse {
        var response = withoutStream
        response.content = .data(Data(response.data.prefix(limit)))
        response.cutOff = error.cutOffReason
        return response
    }
}

extension NetworkError {
    /// Whether the failure concerns only the body of a response whose head has arrived.
    var isLossOfBody: Bool { response != nil && NetworkError.lossesOfBody.contains(kind) }

    private static let lossesOfBody: Set<Kind> = [
        .connectionLostAfterHead, .truncatedBody, .malformedResponse, .undecodableContent, .responseTooLarge,
        .idleTimedOut, .unknown,
    ]

    /// Returns the error for a rejected response. If the body of the response is cut off, the reason of the error says
    /// so: `404 Not Found; its body was cut off after 12 bytes: no byte for 5 s`.
    static func noting(cutOffOf response: HTTPResponse, in error: any Error) -> any Error {
        guard var known = error as? NetworkError, let reason = response.cutOff else { return error }
        let count = response.data.count
        let size = count == 1 ? "1 byte" : "\(count) bytes"
        known.reason = "\(known.reason ?? response.status.description); its body was cut off after \(size): \(reason)"
        return known
    }
}
