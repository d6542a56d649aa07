/// The part of a converter that does not depend on the type of its value: the destination of the body, the header
/// fields of the request, and the transport. The pipeline knows only this part, so that its code is not generic.
struct ConverterRequirements: Sendable {
    /// The destination of the body.
    let target: BodyTarget
    /// Wraps the transport of the call, for a converter that needs more than a response, such as a download.
    var wrapTransport: (@Sendable (any Transport) -> any Transport)?
    /// The header fields that are added to the request if it has no field of the same name.
    var defaultHeaders: HTTPHeaders = []
    /// The header fields that replace those of the request.
    var overridingHeaders: HTTPHeaders = []

    /// Whether the converter is a download, which can be paused and resumed.
    var canBePaused: Bool { target == .file && wrapTransport != nil }

    /// Returns the transport that sends the requests of the converter.
    func transport(over base: any Transport) -> any Transport {
        wrapTransport?(base) ?? base
    }

    /// Applies the header fields of the converter to a request.
    func applyHeaders(to request: inout HTTPRequest) {
        for field in overridingHeaders { request.headers.set(field) }
        for field in defaultHeaders where !request.headers.contains(field.name) {
            request.headers.append(field)
            if field.name == .accept { request.options.defaultAccept = field.value }
        }
    }
}
