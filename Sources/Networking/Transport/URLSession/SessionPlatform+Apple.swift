#if canImport(Darwin)
    public import Foundation
    public import Security

    extension SessionPlatform {
        static var current: SessionPlatform { apple }
    }

    extension URLSession {
        /// Creates a task for a request.
        func task(
            with message: URLRequest, for upload: SessionUpload, opening order: WebSocketOrder?
        ) -> URLSessionTask {
            if let order { return webSocketTask(with: message, for: order) }
            return switch upload {
            case .data: dataTask(with: message)
            case .file(let file): uploadTask(with: message, fromFile: file)
            case .stream: uploadTask(withStreamedRequest: message)
            }
        }
    }

    extension URLSessionTask {
        /// Suspends the task, so that the server stops sending until the task is resumed. Some bytes may still be
        /// delivered.
        func holdBack() {
            suspend()
        }
    }

    extension URLRequest {
        /// Allows only the given networks.
        mutating func restrict(to access: NetworkAccess) {
            allowsCellularAccess = access.contains(.cellular)
            allowsExpensiveNetworkAccess = access.contains(.expensive)
            allowsConstrainedNetworkAccess = access.contains(.constrained)
        }
    }

    extension URLSessionConfiguration {
        /// Returns a copy that requires the minimum version of TLS.
        ///
        /// - Throws: ``NetworkError`` for a background session.
        func prepared(for tls: TLSConfiguration) throws(NetworkError) -> URLSessionConfiguration {
            try NetworkError.require(
                identifier == nil,
                "configuration: background sessions are not supported, because their tasks outlive the call")
            guard let copy = copy() as? URLSessionConfiguration else {
                throw NetworkError(.invalidRequest, reason: "configuration: the session configuration cannot be copied")
            }
            copy.require(tls.minimumVersion)
            return copy
        }

        /// Raises the minimum version of TLS to the given version, unless the minimum is already higher. (The system's
        /// default is TLS 1.0.)
        func require(_ version: TLSConfiguration.Version) {
            let wanted: tls_protocol_version_t =
                switch version {
                case .v1_2: .TLSv12
                case .v1_3: .TLSv13
                }
            guard tlsMinimumSupportedProtocolVersion.rawValue < wanted.rawValue else { return }
            tlsMinimumSupportedProtocolVersion = wanted
        }
    }

    extension URLAuthenticationChallenge {
        /// Whether the server asks for the client's certificate.
        var isForClientCertificate: Bool {
            protectionSpace.authenticationMethod == NSURLAuthenticationMethodClientCertificate
        }
    }

    extension AuthenticationResponse {
        static let standard: Handler = { _, _, respond in respond(.systemDefault) }
    }

    extension URLSessionTransport {
        /// Creates a transport with an additional check of servers, such as TrustKit's. The check can refuse a server
        /// that `tls` trusts, but it cannot accept a server that `tls` does not trust.
        ///
        /// - Parameters:
        ///   - configuration: The session's configuration, which is copied.
        ///   - tls: The certificates to trust, and the client's own certificate.
        ///   - limits: The limits of the bytes in memory.
        ///   - isTrusted: A closure that checks a server. It is called once for each connection, on a queue of the
        ///     transport, with the server's trust object and host. The closure may block. If it returns false, the call
        ///     ends with ``NetworkError/Kind/tlsUntrusted``.
        public convenience init(
            configuration: URLSessionConfiguration = .withoutPolicy, tls: TLSConfiguration = TLSConfiguration(),
            limits: Limits = Limits(),
            trusting isTrusted: @escaping @Sendable (_ trust: SecTrust, _ host: String) -> Bool
        ) throws(NetworkError) {
            try tls.validate()
            try configuration.requireNoSecrets()
            let authentication = try TLSAuthentication(tls, isTrusted: isTrusted)
            self.init(
                configuration: try configuration.prepared(for: tls), limits: limits,
                authenticate: authentication.handler)
        }

        static func authentication(for tls: TLSConfiguration) throws(NetworkError) -> AuthenticationResponse.Handler {
            let authentication = try TLSAuthentication(tls) { _, _ in true }
            return authentication.handler
        }
    }

    extension URLSessionFailure {
        /// Whether a network is available, but the request or the user's settings exclude it.
        var isRestricted: Bool { (error as? URLError)?.networkUnavailableReason != nil }
    }

    // Optional methods of an Objective-C protocol. The compiler infers `@objc` from their names.
    extension URLSessionTransferDelegate {
        func urlSession(
            _ session: URLSession, task: URLSessionTask,
            needNewBodyStream completionHandler: @escaping @Sendable (InputStream?) -> Void
        ) {
            completionHandler(running(task)?.makeBodyStream()?.input)
        }

        func urlSession(_ session: URLSession, taskIsWaitingForConnectivity task: URLSessionTask) {
            running(task)?.noteWaiting()
        }

        func urlSession(
            _ session: URLSession, task: URLSessionTask, didFinishCollecting metrics: URLSessionTaskMetrics
        ) {
            if let times = TransactionTimes(metrics) { running(task)?.note(times) }
        }
    }

    extension HTTPResponse.Connection {
        fileprivate init(_ transaction: URLSessionTaskTransactionMetrics) {
            let version: String? =
                switch transaction.negotiatedTLSProtocolVersion {
                case .TLSv12: "1.2"
                case .TLSv13: "1.3"
                default: nil
                }
            self.init(
                remoteAddress: transaction.remoteAddress,
                // Foundation on Linux declares the port as text.
                remotePort: transaction.remotePort.flatMap { Int("\($0)") },
                isReused: transaction.isReusedConnection, tlsVersion: version,
                sentBytes: transaction.countOfRequestHeaderBytesSent + transaction.countOfRequestBodyBytesSent,
                receivedBytes: transaction.countOfResponseHeaderBytesReceived
                    + transaction.countOfResponseBodyBytesReceived)
        }
    }

    extension TransactionTimes {
        /// Creates the times of the last transaction, which contains the task's response; nil if there is no
        /// transaction.
        init?(_ metrics: URLSessionTaskMetrics) {
            guard let last = metrics.transactionMetrics.last else { return nil }
            self.init(
                start: last.fetchStartDate, nameLookupEnd: last.domainLookupEndDate, connectEnd: last.connectEndDate,
                tlsStart: last.secureConnectionStartDate, tlsEnd: last.secureConnectionEndDate,
                responseStart: last.responseStartDate, responseEnd: last.responseEndDate,
                isReusedConnection: last.isReusedConnection, connection: HTTPResponse.Connection(last),
                isSecure: last.request.url?.scheme?.lowercased() == "https", protocolName: last.networkProtocolName)
        }
    }
#endif
