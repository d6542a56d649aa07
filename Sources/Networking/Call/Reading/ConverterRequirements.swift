import Foundation

/// The part of a converter that does not depend on the type of its value: the destination of the body, and the header
/// fields of the request. The pipeline knows only this part, so that its code is not generic.
struct ConverterRequirements: Sendable {
    /// The destination of the body.
    let target: BodyTarget
    /// The file of a download; nil for other converters. It is stored in its own allocation to keep this structure
    /// small, because the structure is copied for each call.
    var download: CopyOnWrite<FileDestination>?
    /// The header fields that are added to the request if it has no field of the same name.
    var defaultHeaders: HTTPHeaders = []
    /// Whether the decoder of the call reads the response. If so, the decoder's media type is the `Accept` field.
    var usesDecoder = false
    /// The header fields that replace those of the request.
    var overridingHeaders: HTTPHeaders = []

    /// Whether the converter may keep the response that it reads. If so, it gets a response that is detached from the
    /// call. False for the converters of the library that only read the body.
    var keepsResponse = true

    /// Whether the converter is a download, which can be paused and resumed.
    var isDownload: Bool { download != nil }

    /// Returns the requirements of a call that can be paused.
    func forPausableCall() -> ConverterRequirements {
        var copy = self
        copy.download = download.map { CopyOnWrite($0.value.forPausableCall()) }
        return copy
    }

    /// Applies the header fields of the converter to a request.
    ///
    /// - Parameter decoder: The decoder of the call.
    func applyHeaders(to request: inout HTTPRequest, decoder: any BodyDecoder) {
        for field in overridingHeaders { request.headers.set(field) }
        for field in defaultHeaders where !request.headers.contains(field.name) {
            request.headers.append(field.from(.converter))
        }
        if usesDecoder, !request.headers.contains(.accept) {
            // The comparison of types is faster than a cast. A subclass has the same media type.
            let isFoundations = type(of: decoder) == JSONDecoder.self
            let fields = isFoundations ? HTTPHeaders.json : [HTTPHeader.accept(decoder.mediaType)]
            for field in fields { request.headers.append(field.from(.converter)) }
        }
    }
}
