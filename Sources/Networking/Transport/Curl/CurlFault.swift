#if os(Linux)
    /// The faults of libcurl that concern what the engine uses, and how the engine avoids each.
    ///
    /// Collected from curl's advisories (<https://curl.se/docs/security.html>), change logs, issues (`#…`) and the
    /// sources of the versions that Debian, Ubuntu and Amazon Linux ship: 7.74 to 8.14. A distribution may have patched
    /// a version, which its number does not show, so the engine goes by the number. `CurlFaultTests` runs the avoidance
    /// of each case on the installed version.
    ///
    /// Faults in features that the engine does not use are not listed: libcurl's redirects, cookies, HSTS, netrc,
    /// authentication, server push, WebSocket, its other protocols.
    enum CurlFault: UInt32, CaseIterable, Sendable {
        // MARK: Avoided on every version

        /// State of one request reaches the next on the same easy handle. 7.84 to 8.0: a response whose first header
        /// line begins with a blank makes libcurl write to freed memory (#11101). 7.72 to 8.16: every sixth lost
        /// connection in a handle's life fails the request, because the count of retries is not reset (#19066).
        /// CVE-2022-32221, CVE-2023-28322: an upload is sent with the options of the request before. CVE-2026-7168,
        /// CVE-2026-8927, CVE-2026-9079: proxy credentials stay.
        ///
        /// Each attempt has a new handle.
        case reusedHandles
        /// TLS and proxy settings are not compared in full before a connection is used again (CVE-2021-22924,
        /// CVE-2022-27782, CVE-2026-3784, CVE-2026-8932).
        ///
        /// Each transport has connections and TLS sessions of its own, and its settings do not change.
        case incompleteComparison
        /// A heap overflow with a host name of more than 255 bytes and a SOCKS proxy (CVE-2023-38545, 7.69 to 8.3).
        ///
        /// A host name of more than 255 bytes is an error before anything is sent.
        case longHostNames
        /// A response that a server sends on an idle connection is taken for the response to the next request (all
        /// versions over HTTP/1.1).
        ///
        /// An idle HTTP/1.1 connection on which bytes arrive is ended: ``CurlSockets``.
        case unsolicitedResponses
        /// A compressed body that ends early, or is followed by other bytes, is no error or the wrong one (all
        /// versions); brotli fails without a reason (8.7, #13219); pausing while decoding loses a body of more than 64
        /// MiB (7.74).
        ///
        /// The engine decodes bodies itself: ``ContentDecoding``.
        case contentDecoding
        /// `Content-Length` is read leniently: several values, `0x5`, `5abc` (all versions).
        ///
        /// The engine checks it when the head is complete: ``ResponseHead/bodyLength(for:)``.
        case lenientLengths
        /// Response heads (CVE-2023-38039, 7.84 to 8.2) and trailers take memory without limit, or heads fail at limits
        /// and with codes that differ from version to version: 300 KiB, 100 KiB a line, 5,000 fields.
        ///
        /// The engine has lower limits of its own: ``ResponseHeadReader``.
        case headLimits
        /// Requests that wait for a connection have no timeout (8.1 to 8.7, #13227).
        ///
        /// The engine has timers of its own: ``CurlActivity``.
        case waitsWithoutTimeout
        /// A request is sent again after its response, whatever its method: after 417, if it has an `Expect` of the
        /// app's own, and after an HTTP/2 stream was reset with HTTP_1_1_REQUIRED (all versions).
        ///
        /// The engine ends the exchange when libcurl is about to send it, which libcurl says since 7.80:
        /// ``CurlExchange/beginSending(on:)``.
        case repeatsAfterResponses
        /// A transfer stays paused, because an event on the connection overwrites that it was resumed (up to 8.0 and
        /// 8.6, #12971).
        ///
        /// After resuming, the loop runs libcurl's timer before it looks at sockets.
        case lostResumes

        // MARK: Avoided where they are

        /// libcurl repeats any request whose kept connection is lost before the first byte of a response, a POST too
        /// (all versions, #18417): unasked if no byte of the body was written, and after asking for the body's
        /// beginning otherwise.
        ///
        /// `CURLOPT_RTSP_REQUEST` is set to `CURL_RTSPREQ_RECEIVE`: it has no other effect on HTTP, and excludes a
        /// request from this rule (`Curl_retry_request`), but not from being repeated when its stream was refused. The
        /// engine repeats requests that may be repeated itself. A libcurl that was built without RTSP does not have the
        /// option: there, a request that may not be repeated goes over HTTP/1.1 on a connection of its own.
        case repeatsRequests
        /// Before 7.87, HTTP/2 loses: a stream that the server refused may end as if the connection had been lost, or
        /// be mistaken for another one (before 7.77, #6862), and in 7.74 a body that is cut off counts as whole. A
        /// stream that is cancelled is not reset (before 7.83, #8664).
        ///
        /// HTTP/2 is not used, unless the configuration requires it.
        case lossyHTTP2
        /// From 7.87 to 8.0, the same, but libcurl logs which streams were refused.
        ///
        /// The engine reads the log: ``CurlStreamLog``.
        case logsRefusedStreams
        /// From 8.7 to 8.22, a server that refuses an HTTP/2 stream during an upload makes libcurl use freed memory
        /// (CVE-2026-92392). From 8.1 to 8.2.0 and in 8.10.0, HTTP/2 uploads stall (#11426, #11485, #14870).
        ///
        /// A request with a body goes over HTTP/1.1, unless the configuration requires HTTP/2.
        case unsafeUploads
        /// In 7.87 and 7.88, an HTTP/2 upload of unknown length may loop without end (#10449, #10618).
        ///
        /// Such a request goes over HTTP/1.1, unless the configuration requires HTTP/2.
        case loopingUploads
        /// In 7.87 to 8.0, an HTTP/2 response whose head is larger than libcurl's buffer of 16 KiB stalls.
        ///
        /// The buffer has 64 KiB; a larger head is ended by the idle timeout.
        case stallingHeads
        /// In 7.87 and 7.88, HTTP/2 without TLS fails for requests that share a connection (#10634), and some bodies
        /// without a length never end.
        ///
        /// Each request has a connection of its own; a body that does not end is ended by the idle timeout.
        case sharedPlainHTTP2

        /// The versions that have the fault; nil for all.
        private var versions: [Range<CurlVersion>]? {
            switch self {
            case .reusedHandles, .incompleteComparison, .longHostNames, .unsolicitedResponses, .contentDecoding,
                .lenientLengths,
                .headLimits, .waitsWithoutTimeout, .lostResumes, .repeatsAfterResponses, .repeatsRequests:
                nil
            case .lossyHTTP2: [CurlVersion(7, 0)..<CurlVersion(7, 87)]
            case .logsRefusedStreams, .stallingHeads: [CurlVersion(7, 87)..<CurlVersion(8, 1)]
            case .unsafeUploads:
                [CurlVersion(8, 1)..<CurlVersion(8, 2, 1), CurlVersion(8, 7)..<CurlVersion(8, 23)]
            case .loopingUploads, .sharedPlainHTTP2: [CurlVersion(7, 87)..<CurlVersion(8, 0)]
            }
        }

        /// The faults that the engine has to avoid on a version.
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

        /// Faults as bits, because each request asks for several.
        struct Set: Sendable {
            private var bits: UInt32 = 0

            func contains(_ fault: CurlFault) -> Bool { bits & 1 << fault.rawValue != 0 }

            mutating func insert(_ fault: CurlFault) { bits |= 1 << fault.rawValue }

            mutating func remove(_ fault: CurlFault) { bits &= ~(1 << fault.rawValue) }
        }
    }

    extension CurlLibrary {
        /// Whether there are requests for which ``requiresHTTP1(for:)`` is true.
        var mayRequireHTTP1: Bool {
            has(.repeatsRequests) || has(.unsafeUploads) || has(.loopingUploads)
        }

        /// Whether a request has to be sent over HTTP/1.1, if the configuration allows both versions.
        func requiresHTTP1(for request: HTTPRequest) -> Bool {
            if !request.isRepeatable, has(.repeatsRequests) { return true }
            return !request.body.isEmpty && (has(.unsafeUploads) || request.body.length == nil && has(.loopingUploads))
        }
    }

    extension HTTPRequest {
        /// Whether executing the request twice has the effect of executing it once, and its body can be read twice.
        var isRepeatable: Bool { method.isIdempotent && body.isReplayable }
    }
#endif
