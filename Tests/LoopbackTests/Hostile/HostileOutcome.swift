import Networking

/// The way in which a call to a hostile server ends.
indirect enum HostileOutcome: Sendable, CustomStringConvertible {
    /// A response with this status, this body and these fields; nil means that the field does not exist.
    case response(Int, String, fields: [String: String?] = [:])
    /// A response with a body of this number of bytes.
    case size(Int)
    /// A response with this status and any body.
    case status(Int)
    /// An error of this kind.
    case kind(NetworkError.Kind)
    /// Any of these outcomes: the RFCs allow all of them, or the outcome depends on the order in which packets arrive.
    case oneOf([HostileOutcome])
    /// The process would crash. The case is not run.
    case endsTheProcess
    /// Foundation would block the shared queue of all sessions of a process for several seconds. The case is not run.
    case blocksAllSessions

    /// Whether the case can be run.
    var isSafe: Bool {
        switch self {
        case .endsTheProcess, .blocksAllSessions: false
        default: true
        }
    }

    /// Whether the idle timeout is an outcome.
    var mayTimeOut: Bool {
        switch self {
        case .kind(let kind): kind == .idleTimedOut
        case .oneOf(let outcomes): outcomes.contains(where: \.mayTimeOut)
        default: false
        }
    }

    /// Whether a part of the response is missing, so that no engine may take it for a whole one.
    var isEarlyEnd: Bool {
        guard case .kind(let kind) = self else { return false }
        return [.truncatedBody, .connectionLostAfterHead, .idleTimedOut].contains(kind)
    }

    func matches(_ result: Result<HTTPResponse, NetworkError>) -> Bool {
        switch (self, result) {
        case (.response(let status, let text, let fields), .success(let response)):
            response.status.code == status && response.text == text
                && fields.allSatisfy { response.headers[HTTPHeader.Name($0.key)] == $0.value }
        case (.size(let count), .success(let response)): response.data.count == count
        case (.status(let status), .success(let response)): response.status.code == status
        case (.kind(let kind), .failure(let error)): error.kind == kind && HostileOutcome.isConsistent(error)
        case (.oneOf(let outcomes), _): outcomes.contains { $0.matches(result) }
        default: false
        }
    }

    /// Whether the error contains a response, or contains no response, as its kind requires.
    private static func isConsistent(_ error: NetworkError) -> Bool {
        switch error.kind {
        case .connectionLostBeforeHead: error.response == nil
        case .connectionLostAfterHead, .truncatedBody: error.response != nil
        default: true
        }
    }

    var description: String {
        switch self {
        case .response(let status, let text, let fields):
            "\(status) \(text.prefix(40).debugDescription)"
                + (fields.isEmpty ? "" : " \(fields.description.prefix(80))")
        case .size(let count): "\(count) bytes"
        case .status(let status): "\(status) and any body"
        case .kind(let kind): "\(kind)"
        case .oneOf(let outcomes): outcomes.map(\.description).joined(separator: " or ")
        case .endsTheProcess: "the end of the process"
        case .blocksAllSessions: "all sessions blocked for seconds"
        }
    }

    /// Describes the result of a call in more detail than `description` does.
    static func text(_ result: Result<HTTPResponse, NetworkError>) -> String {
        switch result {
        case .success(let response):
            "\(response.status.code) \(response.text.prefix(40).debugDescription) (\(response.data.count) bytes)"
        case .failure(let error):
            "\(error.kind), head: \(error.response?.status.code.description ?? "none"): \(error.reason ?? "")"
        }
    }
}

/// Outcomes that many cases share.
extension HostileOutcome {
    static let hello = response(200, "hello")
    static let second = response(200, "second")
    static let empty = response(200, "")
    static let unpacked = response(200, "hello hello hello")
    static let malformed = kind(.malformedResponse)
    static let truncated = kind(.truncatedBody)
    static let tooLarge = kind(.responseTooLarge)
    static let idle = kind(.idleTimedOut)
    static let lostBeforeHead = kind(.connectionLostBeforeHead)
    static let notProcessed = kind(.notProcessed)
    static let lostAfterHead = kind(.connectionLostAfterHead)
    /// A body that cannot be decoded with its content coding.
    static let undecodable = kind(.undecodableContent)
    /// A violation of RFC 9113. libcurl reports the same code for a violation and for a stream that the server reset,
    /// and some versions wait for the idle timeout instead.
    static let violation = oneOf([malformed, lostBeforeHead, lostAfterHead, truncated, tooLarge, idle])

    static func either(_ outcomes: HostileOutcome...) -> HostileOutcome { oneOf(outcomes) }
}
