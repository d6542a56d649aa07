/// The part of a converter that does not depend on the type of its value: the destination of the body, and the header
/// fields of the request. The pipeline knows only this part, so that its code is not generic.
struct ConverterRequirements: Sendable {
    /// The destination of the body.
    let target: BodyTarget
    /// The file of a download; nil for other converters. Its own allocation keeps this value small, which is copied for
    /// each call.
    var download: CopyOnWrite<FileDestination>?
    /// The header fields that are added to the request if it has no field of the same name.
    var defaultHeaders: HTTPHeaders = []
    /// The header fields that replace those of the request.
    var overridingHeaders: HTTPHeaders = []

    /// Whether the converter may keep the response that it reads. If so, it gets the response outside of its call.
    /// False for the converters of the library that only read the body.
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
    func applyHeaders(to request: inout HTTPRequest) {
        for field in overridingHeaders { request.headers.set(field) }
        for field in defaultHeaders where !request.headers.contains(field.name) {
            request.headers.append(field.from(.converter))
        }
    }
}
