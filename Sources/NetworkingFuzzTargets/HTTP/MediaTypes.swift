import Foundation
import Networking

extension FuzzTarget {
    /// The text of a media type, and the fields `Content-Type` and `Accept`. A media type does not change if it is
    /// written and read again.
    static let mediaTypes = FuzzTarget("media-types") { input in
        let headers: HTTPHeaders = [.accept: input.field]
        for type in headers.accept { try requireRoundTrip(type) }
        guard let type = MediaType(input.field) else { return }
        try requireRoundTrip(type)
        try require(type.accepts(type) && MediaType("*", "*").accepts(type), "\(type) does not accept itself")
        var list = HTTPHeaders()
        list.accept = [type, .json]
        let isRefused = type[parameter: "q"].map { Double($0) == 0 } ?? false
        let hasWeights = type.description.lowercased().contains("q=")
        guard !hasWeights, !isRefused else { return }
        try require(list.accept == [type, .json], "Accept: \(list[.accept] ?? "") means \(list.accept)")
        var request = HTTPRequest(.get, escapedURL)
        request.headers.contentType = type
        // Only an app can create a media type that contains a control character. A request with this media type is
        // refused.
        do { try request.validate() } catch { return try requireReason(error, .invalidRequest) }
        try requireEscaped(request)
    }

    // The text is a valid URL.
    // swift-format-ignore: NeverForceUnwrap
    static let escapedURL = URL(string: "https://api.example.com/a")!

    private static func requireRoundTrip(_ type: MediaType) throws {
        let text = type.description
        guard let again = MediaType(text) else {
            throw FuzzViolation(rule: "\(text.debugDescription) is not read again")
        }
        try require(again == type, "\(text.debugDescription) is read as a different media type")
        try require(again.description, equals: text, "the text changes")
        try require(Bytes.isToken(type.type) && Bytes.isToken(type.subtype), "\(text.debugDescription) has no type")
    }
}
