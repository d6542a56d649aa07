#if os(Linux)
    /// The faults of libcurl in features that the engine uses, and how the engine avoids each of them.
    ///
    /// The list is based on curl's advisories (<https://curl.se/docs/security.html>), change logs, issues (`#…`) and
    /// the sources of the versions that Debian, Ubuntu and Amazon Linux ship: 7.74 to 8.14. The engine looks at the
    /// version number only: a fault that a distribution has patched is avoided, too, because a patched version may have
    /// the same number as the original version. `CurlFaultTests` checks each avoidance on the installed version.
    ///
    /// Faults in features that the engine does not use are not listed: libcurl's redirects, cookies, HSTS, netrc,
    /// authentication, server push, WebSocket, and its other protocols.
    enum CurlFault: UInt32, CaseIterable, Sendable {
        // MARK: Avoided on every version

        /// If an easy handle is used for several requests, the state of one request affects the next request. 7.84 to
        /// 8.0: libcurl writes to freed memory if the first header line of a response begins with a space (#11101).
        /// 7.72 to 8.16: every sixth lost connection in the lifetime of a handle fails the request, because libcurl
        /// does not reset its count of retries (#19066). CVE-2022-32221, CVE-2023-28322: an upload is sent with the
        /// options of the previous request. CVE-2026-7168, CVE-2026-8927, CVE-2026-9079: proxy credentials are not
        /// removed.
        ///
        /// Avoidance: each attempt has a new handle.
        case reusedHandles
        /// libcurl does not compare all TLS and proxy settings before it reuses a connection (CVE-2021-22924,
        /// CVE-2022-27782, CVE-2026-3784, CVE-2026-8932).
        ///
        /// Avoidance: each transport has its own connections and TLS sessions, and its settings do not change. The only
        /// exception is the client certificate, which some requests must not carry (7.71.0 does not compare PKCS #12,
        /// #5617). These requests are marked in the list of ciphers, which every version compares.
        case incompleteComparison
        /// A host name of more than 255 bytes causes a heap overflow with a SOCKS proxy (CVE-2023-38545, 7.69 to 8.3).
        ///
        /// Avoidance: the engine rejects a host name of more than 255 bytes with an error before it sends anything.
        case longHostNames
        /// If a server sends a response on an idle connection, libcurl treats it as the response to the next request
        /// (all versions, over HTTP/1.1).
        ///
        /// Avoidance: the engine ends an idle HTTP/1.1 connection on which bytes arrive (``CurlSockets``).
        case unsolicitedResponses
        /// A compressed body that ends early or is followed by other bytes causes no error or the wrong error (all
        /// versions). Decoding of Brotli fails without a reason (8.7, #13219). A body of more than 64 MiB is lost if
        /// the transfer is paused while the body is decoded (7.74).
        ///
        /// Avoidance: the engine decodes bodies itself (``ContentDecoder``).
        case contentDecoding
        /// libcurl accepts invalid values of `Content-Length`: several values, `0x5`, `5abc` (all versions).
        ///
        /// Avoidance: the engine checks the field when the head is complete (``ResponseHead/bodyLength(for:)``).
        case lenientLengths
        /// The memory for response heads (CVE-2023-38039, 7.84 to 8.2) and trailers is not limited. In other versions,
        /// the limits for heads (300 KiB, 100 KiB per line, 5,000 fields) and the error codes differ from version to
        /// version.
        ///
        /// Avoidance: the engine has its own, lower limits (``ResponseHeadReader``).
        case headLimits
        /// Requests that wait for a connection have no timeout (8.1 to 8.7, #13227).
        ///
        /// Avoidance: the engine has its own timers (``CurlActivity``).
        case waitsWithoutTimeout
        /// In two cases, libcurl repeats a request with any method although the server has responded: after status 417
        /// if the app has set `Expect`, and after the server reset an HTTP/2 stream with HTTP_1_1_REQUIRED (all
        /// versions).
        ///
        /// Avoidance: the engine ends the exchange when libcurl is about to send the request again
        /// (``CurlExchange/beginSending(on:)``). This is possible from version 7.80 on, in which libcurl reports this
        /// moment. Before 7.80, the fault is not avoided.
        case repeatsAfterResponses
        /// A transfer that was resumed stays paused, because an event on the connection overwrites the resumption (up
        /// to 8.0, and in 8.6, #12971).
        ///
        /// Avoidance: after the loop has resumed a transfer, it runs libcurl's timer before it handles sockets.
        case lostResumes
        /// If a proxy refuses CONNECT, libcurl reads the body of the refusal byte by byte, on the loop's thread, as
        /// long as bytes arrive.
        ///
        /// Avoidance: the engine reads the head of the refusal, and ends the exchange before the body (``CurlTunnel``).
        /// Before 7.80, the fault is not avoided, because libcurl does not report when the request itself begins.
        case endlessRefusals
        /// From 7.87 on, libcurl reads the file of trusted certificates once in 24 hours. On every version, a TLS
        /// session is resumed even if the authority that issued its certificate has been removed from the file.
        ///
        /// Avoidance: the engine checks the file once a second. After a change, libcurl reads the file again. With
        /// OpenSSL, later requests then belong to the next generation, which resumes no older TLS session
        /// (``CurlTrust``). The system's certificates are read again after 30 seconds.
        case oldTrust

        /// If libcurl is called for all exchanges (`curl_multi_perform`, `curl_multi_socket_all`), it may forget an
        /// exchange that waits while another exchange opens a connection (up to 8.14). The forgotten exchange ends with
        /// the connect timeout.
        ///
        /// Avoidance: the loop calls libcurl for one socket or for its timer. If ``forgottenAddresses`` requires a call
        /// for all exchanges, the loop makes a second call for all exchanges. The second call finds the exchanges that
        /// the first call may have forgotten.
        case forgottenWaits

        /// If libcurl gives up a socket while the socket is connecting, it closes the socket without calling the app's
        /// function for closing sockets (seen in 7.88). The number of the socket may then belong to another file of the
        /// process.
        ///
        /// Avoidance: before the engine ends an idle connection, it checks whether the descriptor still refers to the
        /// socket that the engine opened (``CurlSockets/isOpen(_:)``).
        case unreportedClosures

        // MARK: Avoided on the affected versions

        /// libcurl repeats any request, even a POST, whose reused connection is lost before the first byte of a
        /// response (all versions, #18417). If no byte of the body was written, libcurl repeats the request without
        /// calling the engine. Otherwise it first calls the engine's seek callback to go back to the start of the body.
        ///
        /// Avoidance: the engine sets `CURLOPT_RTSP_REQUEST` to `CURL_RTSPREQ_RECEIVE`. With this option, libcurl does
        /// not repeat a request after a lost connection (`Curl_retry_request`), but it still repeats a request whose
        /// stream was refused. The option has no other effect on HTTP. The engine itself repeats the requests that may
        /// be repeated. A libcurl that was built without RTSP does not have the option. With such a library, a request
        /// that must not be repeated is sent over HTTP/1.1 on its own connection.
        case repeatsRequests
        /// Before 7.87, HTTP/2 loses data. If the server refuses a stream, libcurl may report a lost connection, or
        /// confuse the stream with another one (before 7.77, #6862). In 7.74, a truncated body counts as complete. A
        /// cancelled stream is not reset (before 7.83, #8664).
        ///
        /// Avoidance: HTTP/2 is not used, unless the configuration requires it.
        case lossyHTTP2
        /// From 7.87 to 8.0, libcurl may still report a refused stream as a lost connection, but it logs the refusal.
        ///
        /// Avoidance: the engine reads the log (``CurlStreamLog``).
        case logsRefusedStreams
        /// From 8.7 to 8.22, libcurl uses freed memory if a server refuses an HTTP/2 stream during an upload
        /// (CVE-2026-92392). From 8.1 to 8.2.0 and in 8.10.0, HTTP/2 uploads stall (#11426, #11485, #14870).
        ///
        /// Avoidance: a request with a body is sent over HTTP/1.1, unless the configuration requires HTTP/2.
        case unsafeUploads
        /// In 7.87 and 7.88, an HTTP/2 upload of unknown length may loop forever (#10449, #10618).
        ///
        /// Avoidance: such a request is sent over HTTP/1.1, unless the configuration requires HTTP/2.
        case loopingUploads
        /// In 7.87 and 7.88, and perhaps until 8.6, an HTTP/2 upload of more than 64 KiB hangs if the server responds
        /// with 2xx before it has read the body (RFC 9113 section 8.1).
        ///
        /// Avoidance: such a request is sent over HTTP/1.1, unless the configuration requires HTTP/2.
        case earlyResponses
        /// Before 7.87, if a request ends while another thread looks up the name of its host, libcurl waits for this
        /// thread. The loop and all its requests then wait for as long as the system's resolver needs (7.87 has
        /// `CURLOPT_QUICK_EXIT`).
        ///
        /// Avoidance: if a request ends during the lookup, the exchange ends, but libcurl keeps the handle until the
        /// lookup has ended (``CurlHandle/isLookingUp``). The loop itself applies the connect timeout to the lookup.
        case joinedLookups
        /// Before 8.4, after libcurl gives up an address that does not answer, it does not request another call by the
        /// engine. Therefore, libcurl does not try the next address (#11920).
        ///
        /// Avoidance: five times a second, the loop looks for an exchange that connects but waits for no socket, and
        /// calls libcurl for all exchanges (``CurlHandle/isForgotten``).
        case forgottenAddresses
        /// Over HTTP/2, libcurl receives up to 32 MiB (10 MiB from 8.7 on) of a stream while the stream is paused.
        ///
        /// Avoidance: a body that is read as a stream is received over HTTP/1.1, unless the configuration requires
        /// HTTP/2.
        case unboundedStreams
        /// In 7.87 to 8.0, an HTTP/2 response whose head is larger than libcurl's buffer of 16 KiB stalls.
        ///
        /// Avoidance: the engine sets the buffer to 64 KiB. The idle timeout ends an exchange whose head is larger.
        case stallingHeads
        /// Since 7.87, libcurl does not return to the loop as long as an HTTP/2 server sends GOAWAY frames or changes
        /// the number of its streams. In 7.87 to 8.0, frames without data are sufficient. All other requests wait.
        ///
        /// Avoidance: libcurl reports its progress after each of its steps. Up to 8.0, it also logs each TLS record.
        /// The engine ends a connection if one call of libcurl has used a fifth of a second of processor time for this
        /// connection (``CurlHold``).
        case heldLoops
        /// Before 8.10, if the end of a TLS connection marks the end of a response, the response counts as complete
        /// even without a closure alert of TLS. An attacker can end a connection in this way (RFC 9112 section 9.8).
        ///
        /// Avoidance: the engine asks OpenSSL whether the alert has arrived (``CurlHandle/isCutOff``).
        case missingClosures
        /// In 7.87 and 7.88, HTTP/2 without TLS fails for requests that share a connection (#10634), and some bodies
        /// without a length never end.
        ///
        /// Avoidance: each request has its own connection. The idle timeout ends an exchange whose body does not end.
        case sharedPlainHTTP2
        /// From 8.13 to 8.15, a request that may share a connection over HTTP/2 waits until the first response head has
        /// arrived on this connection (#18177). If the request that opened the connection was cancelled or has failed
        /// before that, the other request waits until its connect timeout.
        ///
        /// Avoidance: five times a second, the loop looks for exchanges that wait for the connection of another
        /// exchange. After 0.2 to 0.6 seconds, they use or open another connection, and later requests to the origin do
        /// not wait (``CurlLoop/endWaits(of:)``).
        case waitsForHeads
        /// From 8.22 on, libcurl checks only once a second whether an idle connection has ended (#22169). In between, it
        /// sends requests on a connection that the engine has ended, and reports a lost connection.
        ///
        /// Avoidance: the engine repeats such a request, whatever its method is, if its body can be read again. With
        /// OpenSSL, later requests to the origin belong to the next generation, which does not use the ended connection.
        case uncheckedConnections

        /// The versions on which the engine has to avoid the fault; nil for all versions.
        private var versions: [Range<CurlVersion>]? {
            switch self {
            case .lossyHTTP2, .joinedLookups: [CurlVersion(7, 0)..<CurlVersion(7, 87)]
            case .logsRefusedStreams, .stallingHeads: [CurlVersion(7, 87)..<CurlVersion(8, 1)]
            case .unsafeUploads: [CurlVersion(8, 1)..<CurlVersion(8, 2, 1), CurlVersion(8, 7)..<CurlVersion(8, 23)]
            case .earlyResponses: [CurlVersion(7, 87)..<CurlVersion(8, 7)]
            case .forgottenAddresses: [CurlVersion(7, 0)..<CurlVersion(8, 4)]
            case .missingClosures: [CurlVersion(7, 0)..<CurlVersion(8, 10)]
            case .unboundedStreams, .heldLoops: [CurlVersion(7, 87)..<CurlVersion(9, 0)]
            case .loopingUploads, .sharedPlainHTTP2: [CurlVersion(7, 87)..<CurlVersion(8, 0)]
            case .waitsForHeads: [CurlVersion(8, 13)..<CurlVersion(8, 16)]
            case .uncheckedConnections: [CurlVersion(8, 22)..<CurlVersion(9, 0)]
            default: nil  // all versions
            }
        }

        /// Returns the faults that the engine has to avoid on a version.
        ///
        /// - Parameter canLimitRepeats: Whether the library has the option that avoids ``repeatsRequests``.
        static func faults(of version: CurlVersion, canLimitRepeats: Bool) -> Set {
            var faults = Set()
            for fault in allCases where fault.versions?.contains(where: { $0.contains(version) }) ?? true {
                faults.insert(fault)
            }
            if canLimitRepeats { faults.remove(.repeatsRequests) }
            return faults
        }

        /// A set of faults, stored as bits because each request checks several of them.
        struct Set: Sendable {
            private var bits: UInt32 = 0

            func contains(_ fault: CurlFault) -> Bool { bits & 1 << fault.rawValue != 0 }

            mutating func insert(_ fault: CurlFault) { bits |= 1 << fault.rawValue }

            mutating func remove(_ fault: CurlFault) { bits &= ~(1 << fault.rawValue) }
        }
    }

    extension CurlLibrary {
        /// Whether ``requiresHTTP1(for:_:)`` is true for some requests.
        var mayRequireHTTP1: Bool {
            has(.repeatsRequests) || has(.unsafeUploads) || has(.loopingUploads) || has(.earlyResponses)
                || has(.unboundedStreams)
        }

        /// Returns whether a request must be sent over HTTP/1.1 if the configuration allows both versions.
        func requiresHTTP1(for request: HTTPRequest, _ delivery: BodyDelivery) -> Bool {
            if !request.isRepeatable, has(.repeatsRequests) { return true }
            if case .streamed = delivery, has(.unboundedStreams) { return true }
            guard !request.body.isEmpty else { return false }
            guard let length = request.body.length else { return has(.unsafeUploads) || has(.loopingUploads) }
            return has(.unsafeUploads) || length > 65_535 && has(.earlyResponses)
        }
    }
#endif
