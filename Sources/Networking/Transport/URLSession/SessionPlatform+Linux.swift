#if canImport(FoundationNetworking)
    import Foundation
    import FoundationNetworking

    extension SessionPlatform {
        static var current: SessionPlatform { linux }
    }

    extension URLSession {
        /// Creates a task for a request. It is always a data task, because upload tasks are not reliable on Linux. On
        /// Linux, a ``SessionUpload`` always contains data.
        func task(
            with message: URLRequest, for upload: SessionUpload, opening order: WebSocketOrder?
        ) -> URLSessionTask {
            dataTask(with: message)
        }
    }

    extension URLSessionTask {
        /// Does nothing: see ``SessionPlatform/holdsServersBack``.
        func holdBack() {}
    }

    extension URLRequest {
        /// Does nothing: Foundation on Linux does not distinguish kinds of networks.
        mutating func restrict(to access: NetworkAccess) {}

        /// Does nothing: see ``SessionPlatform/opensWebSockets``.
        mutating func prepareHandshake(for order: WebSocketOrder) {}
    }

    extension URLSessionConfiguration {
        func prepared(for tls: TLSConfiguration) throws(NetworkError) -> URLSessionConfiguration { self }

        /// Does nothing: Foundation on Linux has no such setting.
        func require(_ version: TLSConfiguration.Version) {}
    }

    extension URLAuthenticationChallenge {
        /// Foundation on Linux has no client certificates.
        var isForClientCertificate: Bool { false }
    }

    extension AuthenticationResponse {
        /// On Linux, only a 401 or 407 causes a challenge. The challenge is cancelled, because every other disposition
        /// hangs or crashes. The response is complete at that time, and Foundation reports the end of the task as a
        /// cancellation.
        static let standard: Handler = { _, _, respond in respond(.responseAsReceived) }
    }

    extension URLSessionTransport {
        /// Checks that Foundation on Linux can send a request.
        ///
        /// - Throws: ``NetworkError`` if Foundation would send the request in another form, or not at all.
        func refuseUnsendable(_ request: HTTPRequest) throws {
            let method = request.method.rawValue
            try NetworkError.require(
                method == method.uppercased(),
                "method: URLSession on Linux sends \(method) in upper case; use CurlTransport")
            try NetworkError.require(
                URLAuthority(request.url).host.first != "[",
                "URL: URLSession on Linux cannot connect to an IPv6 address; use CurlTransport")
            let path = request.url.path(percentEncoded: true)
            let isKept = !path.contains("/.") || !path.split(separator: "/").contains { $0 == "." || $0 == ".." }
            try NetworkError.require(
                isKept,
                "URL: URLSession on Linux removes the segments . and .. from the path \(path); use CurlTransport")
        }

        static func authentication(for tls: TLSConfiguration) throws(NetworkError) -> AuthenticationResponse.Handler {
            let isDefault = tls == TLSConfiguration()
            try NetworkError.require(isDefault, "tls: URLSession on Linux has no TLS settings; use CurlTransport")
            return AuthenticationResponse.standard
        }
    }

    extension URLSessionFailure {
        /// Always false: Foundation on Linux does not distinguish kinds of networks.
        var isRestricted: Bool { false }
    }

    /// A request's body as a stream for `URLSession`. Linux does not support it: see
    /// ``SessionPlatform/streamsUploads``.
    final class SessionBodyStream: Sendable {
        init(
            _ request: HTTPRequest, queue: DispatchQueue, onError: @escaping @Sendable (NetworkError) -> Void
        ) throws(NetworkError) {
            throw NetworkError(.bodyUnreadable, reason: "the body: URLSession on Linux cannot send streams")
        }

        func close() {}
    }
#endif
