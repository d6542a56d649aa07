import Foundation

/// What a supervisor remembers of its store.
struct StoreReading: Sendable {
    /// Whether the store could not be read when it was last read.
    var hasFailed = false
    /// Whether a token that cannot be decoded was reported.
    var hasReportedUndecodable = false
}

extension AccessTokenSupervisor {
    /// Reads the store. Content that cannot be decoded counts as no token, and is reported once.
    func read(_ store: any AccessTokenStore) async throws -> (token: AccessToken?, isUndecodable: Bool) {
        do {
            let token = try await store.load()
            if let fault = token?.fault {
                throw AccessToken.Undecodable(
                    NetworkError(.malformedResponse, reason: "the token cannot be sent: \(fault)"))
            }
            state.withLock { $0.reading.hasFailed = false }
            return (token, false)
        } catch let error as AccessToken.Undecodable {
            let isNews = state.withLock { state in
                defer { state.reading = StoreReading(hasFailed: false, hasReportedUndecodable: true) }
                return !state.reading.hasReportedUndecodable
            }
            if isNews { events.publish(.notStored(error)) }
            return (nil, true)
        } catch {
            state.withLock { $0.reading.hasFailed = true }
            throw error
        }
    }

    /// Whether the store could not be read when it was last read. In this case, the session is not over.
    var isStoreUnreadable: Bool { state.withLock { $0.reading.hasFailed } }
}

extension AccessToken {
    /// Decodes the content of a store.
    ///
    /// - Parameter fault: Returns the underlying error for an error of the decoder.
    init(stored content: Data, _ fault: (any Error) -> any Error = { $0 }) throws(Undecodable) {
        do { self = try JSONDecoder().decode(AccessToken.self, from: content) } catch {
            throw Undecodable(fault(error))
        }
    }
}

extension AccessToken {
    /// The reason why no header field can carry the token; nil if a field can carry it.
    var fault: String? {
        if value.isEmpty { return "its value is empty" }
        return HTTPGrammar.isFieldValue(value)
            ? nil : "its value contains a control character, or begins or ends with whitespace"
    }
}

extension AccessToken.Undecodable: RedactedReflectable {
    /// Shows nothing of the content.
    var redactedDescription: String {
        "the stored token cannot be decoded" + (underlying.map { ": \(NetworkError.wrapping($0))" } ?? "")
    }
}
