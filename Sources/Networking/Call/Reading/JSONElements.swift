import Foundation

/// Reads the JSON values of a body while the body arrives. Each line, or the data of each server-sent event, is one
/// value.
struct JSONElements<Element: Decodable & Sendable>: AsyncIteratorProtocol {
    // Two variables, because a reader in an enumeration would be copied for each chunk, with its incomplete line.
    private var lines: BodyLines?
    private var events: ServerSentEvents?
    /// The types of the events that are read as values; nil if all events are values.
    private let names: Set<String>?
    /// The word for a part of the body in errors: `line` or `event`.
    private let part: String
    private let decoder: any BodyDecoder
    private let end: BodySequence<Element>.Terminator?
    private let failure: BodySequence<Element>.FailureRule?
    /// The number of lines or events that have been read, and the number of elements that have been delivered.
    private var number = 0
    private var count = 0
    private var isOver = false

    init(
        lines: BodyLines, decoder: any BodyDecoder, endingWith end: BodySequence<Element>.Terminator? = nil,
        failingOn failure: BodySequence<Element>.FailureRule? = nil
    ) {
        (self.lines, names, part) = (lines, nil, "line")
        (self.decoder, self.end, self.failure) = (decoder, end, failure)
    }

    init(
        events: ServerSentEvents, named names: Set<String>?, decoder: any BodyDecoder,
        endingWith end: BodySequence<Element>.Terminator?, failingOn failure: BodySequence<Element>.FailureRule?
    ) {
        (self.events, self.names, part) = (events, names, "event")
        (self.decoder, self.end, self.failure) = (decoder, end, failure)
    }

    /// Returns the next value, or nil at the end.
    ///
    /// - Throws: The error of the body; the error that the server has sent, if ``BodySequence/FailureRule`` names it;
    ///   ``NetworkError/Kind/truncatedBody`` if the body ends before its terminator;
    ///   ``NetworkError/Kind/undecodableBody`` if a value cannot be decoded. The reason then contains the number of the
    ///   line or event.
    mutating func next() async throws -> Element? {
        guard !isOver else { return nil }
        while let (type, text) = try await read() {
            number += 1
            if case .type(let name)? = end?.rule, name == type { return finish() }
            if case .text(let last)? = end?.rule, last == text { return finish() }
            if let error = try await failure?.error(type, text, decoder, at: "\(part) \(number)") {
                isOver = true
                throw error
            }
            if let names, !names.contains(type) { continue }
            guard !text.utf8.allSatisfy({ HTTPGrammar.isBlank($0) }) else { continue }
            let element = try await decode(text)
            count += 1
            if case .element(let isLast)? = end?.rule { isOver = isLast(element) }
            return element
        }
        isOver = true
        guard let end else { return nil }
        throw NetworkError(.truncatedBody, reason: "the body ended after \(count) elements; expected \(end)")
    }

    private mutating func finish() -> Element? {
        isOver = true
        return nil
    }

    /// Returns the next line or event.
    private mutating func read() async throws -> (type: String, text: String)? {
        if lines != nil { return try await lines?.next().map { ("", $0) } }
        return try await events?.next().map { ($0.type, $0.data) }
    }

    private func decode(_ text: String) async throws -> Element {
        let body = Data(text.utf8)
        do {
            guard LargeBody.isLarge(body) else { return try decoder.read(Element.self, from: body) }
            return try await LargeBody.reading(body) { [decoder] in try decoder.read(Element.self, from: $0) }
        } catch let interruption as Interruption {
            throw interruption
        } catch {
            let fault = UndecodableBody.describe(error, reading: Element.self, from: body)
            throw NetworkError(.undecodableBody, reason: "\(part) \(number): \(fault)", underlying: error)
        }
    }
}

extension BodySequence {
    /// The end of a complete stream. If a stream ends without it, the loop throws ``NetworkError/Kind/truncatedBody``
    /// with the number of elements that have arrived.
    ///
    /// ```swift
    /// .events(Delta.self, endingWith: "[DONE]")
    /// ```
    public struct Terminator: Sendable, ExpressibleByStringLiteral, CustomStringConvertible {
        enum Rule: Sendable {
            case text(String)
            case type(String)
            case element(@Sendable (Element) -> Bool)
        }

        let rule: Rule

        /// A line, or the data of an event, that equals a text. It is not delivered as an element.
        public static func text(_ text: String) -> Terminator { Terminator(rule: .text(text)) }

        /// An event of a type. It is not delivered as an element. JSON lines have no type.
        public static func type(_ type: String) -> Terminator { Terminator(rule: .type(type)) }

        /// The element for which a closure returns true. The loop receives it, and ends after it.
        public static func element(where isLast: @escaping @Sendable (Element) -> Bool) -> Terminator {
            Terminator(rule: .element(isLast))
        }

        /// Creates a terminator from its text, as ``text(_:)`` does.
        public init(stringLiteral text: String) { self = .text(text) }

        private init(rule: Rule) { self.rule = rule }

        /// The terminator, for errors.
        public var description: String {
            switch rule {
            case .text(let text): "the end \"\(text)\"".onOneLine
            case .type(let type): "an event of the type \(type)".onOneLine
            case .element: "a last element"
            }
        }
    }

    /// Which events or lines of a stream are errors of the server. When such an error occurs, the server has already
    /// sent the status 200, so it sends the error in the body.
    public struct FailureRule: Sendable {
        /// The type of the events; nil means that every event or line may be an error.
        private let type: String?
        private let read: @Sendable (Data, any BodyDecoder) throws -> any Error

        /// An event of a type. The event's data is the error. If the data cannot be read, the stream ends with
        /// ``NetworkError/Kind/undecodableBody``. A line of JSON has no type.
        public static func type<Failure: Error & Decodable>(_ type: String, as failure: Failure.Type) -> FailureRule {
            FailureRule(type: type) { try $1.read(Failure.self, from: $0) }
        }

        /// Each event or line of at most 64 KiB that can be read as the error. The error type needs a required property
        /// that no element has; otherwise, elements are read as errors.
        public static func any<Failure: Error & Decodable>(_ failure: Failure.Type) -> FailureRule {
            FailureRule(type: nil) { try $1.read(Failure.self, from: $0) }
        }

        private init(type: String?, read: @escaping @Sendable (Data, any BodyDecoder) throws -> any Error) {
            (self.type, self.read) = (type, read)
        }

        /// Returns the error that an event or line contains; nil if it contains no error.
        func error(_ type: String, _ text: String, _ decoder: any BodyDecoder, at place: String) async throws -> (
            any Error
        )? {
            let body = Data(text.utf8)
            guard let expected = self.type else {
                // An error of this size is not read, just as in the body of an error response.
                return body.count > 64 << 10 ? nil : try? read(body, decoder)
            }
            guard type == expected else { return nil }
            do {
                guard LargeBody.isLarge(body) else { return try read(body, decoder) }
                return try await LargeBody.reading(body) { [read] in try read($0, decoder) }
            } catch let interruption as Interruption {
                throw interruption
            } catch {
                throw NetworkError(
                    .undecodableBody, reason: "\(place): the error of the server cannot be read", underlying: error)
            }
        }
    }
}
