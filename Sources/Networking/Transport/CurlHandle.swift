#if os(Linux)
    import CLibcurl
    import Foundation

    /// An easy handle of libcurl, used for one exchange after another: what stays the same is set once.
    final class CurlHandle: @unchecked Sendable {  // because it belongs to one thread at a time
        /// What differs from request to request, as it stands in the handle.
        private struct Options: Equatable {
            var method = HTTPMethod.get
            var isUpload = false
            var isFresh = false
            var isSecure = false
            var connectTimeout = 0
        }

        /// The exchange that is carried.
        var exchange: CurlExchange?
        /// Its place among those that are carried.
        var index = 0
        let sockets: CurlSockets
        let easy: UnsafeMutableRawPointer
        private let share: CurlShare
        private let lines = CurlHeaderLines()
        private let errorText = UnsafeMutablePointer<CChar>.allocate(capacity: 256)
        private var options = Options()
        /// What stands between the client and every host.
        private let between: String?

        /// - Throws: ``NetworkError`` where the configuration cannot be had.
        init(_ configuration: CurlConfiguration, sockets: CurlSockets, share: CurlShare) throws {
            guard let easy = clibcurl_easy_init() else {
                throw NetworkError(.unknown, reason: "libcurl gives no handle")
            }
            self.easy = easy
            self.sockets = sockets
            self.share = share
            between = configuration.between
            errorText.initialize(repeating: 0, count: 256)
            set(CCURLOPT_ERRORBUFFER, errorText)
            set(CCURLOPT_NOSIGNAL, 1)
            set(CCURLOPT_QUICK_EXIT, 1)
            set(CCURLOPT_PATH_AS_IS, 1)
            set(CCURLOPT_SUPPRESS_CONNECT_HEADERS, 1)
            set(CCURLOPT_PROTOCOLS, CCURLPROTO_HTTP | CCURLPROTO_HTTPS)
            set(CCURLOPT_HTTP_VERSION, CCURL_HTTP_VERSION_2TLS)
            set(CCURLOPT_ACCEPT_ENCODING, "")
            share.attach(easy)
            installCallbacks(waitsForConnections: configuration.limits.mayWait)
            try apply(configuration)
        }

        deinit {
            share.cleanUp(easy)
            errorText.deallocate()
        }

        /// Makes the handle ready to send a request.
        func prepare(for exchange: CurlExchange) throws {
            let request = exchange.request
            let body = request.body
            // A POST without content says so (RFC 9110 section 8.6), and so do its like.
            let isUpload = !body.isEmpty || request.method.expectsContent
            let method = request.method
            try apply(
                Options(
                    method: method, isUpload: isUpload,
                    // Libcurl sends again what it sent on a dead connection, unasked; where there is a body, it has to ask for it.
                    isFresh: body.isEmpty && !method.isIdempotent,
                    isSecure: request.url.scheme?.lowercased() == "https",
                    connectTimeout: min(
                        max(request.timeouts.effectiveConnect.nanoseconds / 1_000_000, 1), Int(Int32.max))))
            if isUpload {
                clibcurl_easy_set_offset(
                    easy, Int32(CCURLOPT_INFILESIZE_LARGE), body.isEmpty ? 0 : body.length.map(Int64.init) ?? -1)
            }
            guard set(CCURLOPT_URL, request.url.absoluteString) == CCURLE_OK else {
                throw NetworkError(.invalidRequest, reason: "URL: libcurl does not take it")
            }
            let headers = request.allHeaders
            let isExpecting = !isUpload || headers.contains("Expect")
            let list = lines.write(headers, and: isExpecting ? [] : ["Expect:"])
            clibcurl_easy_set_pointer(easy, Int32(CCURLOPT_HTTPHEADER), list)
            errorText[0] = 0
        }

        private func apply(_ new: Options) throws {
            guard new != options else { return }
            if new.method != options.method || new.isUpload != options.isUpload {
                set(CCURLOPT_CUSTOMREQUEST, nil)
                set(CCURLOPT_UPLOAD, 0)
                set(CCURLOPT_HTTPGET, 1)
                if new.isUpload { set(CCURLOPT_UPLOAD, 1) }
                if new.method == .head { set(CCURLOPT_NOBODY, 1) }
                if new.method != .get || new.isUpload, new.method != .head {
                    set(CCURLOPT_CUSTOMREQUEST, new.method.rawValue)
                }
            }
            if new.isFresh != options.isFresh { set(CCURLOPT_FRESH_CONNECT, new.isFresh ? 1 : 0) }
            // Only where TLS can agree on HTTP/2 is it worth waiting for a connection that others use, too.
            if new.isSecure != options.isSecure { set(CCURLOPT_PIPEWAIT, new.isSecure ? 1 : 0) }
            if new.connectTimeout != options.connectTimeout { set(CCURLOPT_CONNECTTIMEOUT_MS, new.connectTimeout) }
            options = new
        }

        /// Stops what is named, and goes on with what is not.
        ///
        /// - Returns: Whether that went well.
        func pause(_ directions: Int32) -> Bool {
            clibcurl_easy_pause(easy, directions) == CCURLE_OK
        }

        /// The times so far.
        var timing: ResponseTiming {
            let isReused = clibcurl_easy_get_long(easy, Int32(CCURLINFO_NUM_CONNECTS)) == 0
            let tls = time(CCURLINFO_APPCONNECT_TIME_T)
            return ResponseTiming(
                nameLookup: isReused ? .zero : time(CCURLINFO_NAMELOOKUP_TIME_T),
                connect: isReused ? .zero : time(CCURLINFO_CONNECT_TIME_T),
                tls: !options.isSecure ? nil : isReused ? .zero : tls,
                firstByte: time(CCURLINFO_STARTTRANSFER_TIME_T), total: time(CCURLINFO_TOTAL_TIME_T))
        }

        /// How many bytes of the request's body have been given to the system.
        var uploadedBytes: Int64 { clibcurl_easy_get_offset(easy, Int32(CCURLINFO_SIZE_UPLOAD_T)) }

        /// Why the exchange ended.
        func failure(_ code: Int32) -> NetworkError {
            CurlFailure(
                code: code, words: String(cString: errorText), between: between,
                hasHead: exchange?.transfer.hasHead ?? false,
                systemError: Int32(clibcurl_easy_get_long(easy, Int32(CCURLINFO_OS_ERRNO))),
                proxyStatus: clibcurl_easy_get_long(easy, Int32(CCURLINFO_HTTP_CONNECTCODE))
            ).networkError
        }

        private func time(_ info: Int) -> Duration {
            .microseconds(clibcurl_easy_get_offset(easy, Int32(info)))
        }
    }

    /// How options are set.
    extension CurlHandle {
        @discardableResult
        func set(_ option: Int, _ value: Int) -> Int32 {
            clibcurl_easy_set_long(easy, Int32(option), value)
        }

        @discardableResult
        func set(_ option: Int, _ text: String?) -> Int32 {
            clibcurl_easy_set_text(easy, Int32(option), text)
        }

        @discardableResult
        func set(_ option: Int, _ pointer: UnsafeMutableRawPointer) -> Int32 {
            clibcurl_easy_set_pointer(easy, Int32(option), pointer)
        }
    }
#endif
