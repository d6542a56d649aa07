#if os(Linux)
    import CLibcurl
    import Foundation

    /// libcurl's multi interface in its plain form: `curl_multi_perform` and `curl_multi_poll` on one thread, with a
    /// new easy handle for each request, as in the library. It does not decode responses.
    final class BareLibcurl: @unchecked Sendable {  // because only one thread at a time uses it
        private let multi: UnsafeMutableRawPointer
        private let url: String
        private let concurrency: Int
        private let body: String?
        private let certificate: URL?
        private let isHTTP2: Bool
        private var lists: [UnsafeMutablePointer<clibcurl_slist>] = []
        private let buffer = UnsafeMutableRawPointer.allocate(byteCount: 1 << 16, alignment: 16)

        /// - Parameters:
        ///   - body: The body of a POST; nil for a GET.
        ///   - certificate: The file of trusted certificates, for an https URL.
        ///   - isHTTP2: Whether requests use HTTP/2, for an https URL.
        init(
            _ url: URL, concurrency: Int, headers: [String] = BareLibcurl.headers, body: String? = nil,
            trusting certificate: URL? = nil, isHTTP2: Bool = false
        ) throws {
            guard clibcurl_load("libcurl.so.4") == CLIBCURL_LOADED, let multi = clibcurl_multi_init() else {
                throw URLError(.unsupportedURL)
            }
            self.multi = multi
            self.url = url.absoluteString
            self.concurrency = concurrency
            self.body = body
            self.certificate = certificate
            self.isHTTP2 = isHTTP2
            clibcurl_multi_set_long(multi, Int32(CCURLMOPT_MAXCONNECTS), 512)
            for header in headers.reversed() {
                let node = UnsafeMutablePointer<clibcurl_slist>.allocate(capacity: 1)
                node.initialize(to: clibcurl_slist(data: strdup(header), next: lists.last))
                lists.append(node)
            }
        }

        /// Creates a handle for one request, as the library does.
        private func makeHandle() -> UnsafeMutableRawPointer? {
            guard let easy = clibcurl_easy_init() else { return nil }
            url.withCString { _ = clibcurl_easy_set_text(easy, Int32(CCURLOPT_URL), $0) }
            clibcurl_easy_set_long(easy, Int32(CCURLOPT_NOSIGNAL), 1)
            clibcurl_easy_set_text(easy, Int32(CCURLOPT_ACCEPT_ENCODING), "")
            if let body { clibcurl_easy_set_text(easy, Int32(CCURLOPT_COPYPOSTFIELDS), body) }
            if let certificate {
                clibcurl_easy_set_text(easy, Int32(CCURLOPT_CAINFO), certificate.path)
                let version = isHTTP2 ? CCURL_HTTP_VERSION_2TLS : CCURL_HTTP_VERSION_1_1
                clibcurl_easy_set_long(easy, Int32(CCURLOPT_HTTP_VERSION), version)
                // Requests wait for the first connection, as in the library. Only HTTP/2 can share it.
                if isHTTP2 { clibcurl_easy_set_long(easy, Int32(CCURLOPT_PIPEWAIT), 1) }
            }
            clibcurl_easy_set_pointer(easy, Int32(CCURLOPT_HTTPHEADER), lists.last)
            clibcurl_easy_set_pointer(easy, Int32(CCURLOPT_WRITEDATA), buffer)
            clibcurl_easy_set_transfer(easy, Int32(CCURLOPT_WRITEFUNCTION)) { bytes, size, count, buffer in
                if let buffer, let bytes { memcpy(buffer, bytes, min(size * count, 1 << 16)) }
                return size * count
            }
            return easy
        }

        deinit {
            clibcurl_multi_cleanup(multi)
            for node in lists {
                free(node.pointee.data)
                node.deallocate()
            }
            buffer.deallocate()
        }

        /// The same header fields as those that the pipeline sends.
        static let headers = [
            "User-Agent: Benchmark/1.0 (Linux)", "Accept-Language: en", "X-Tenant: acme",
            "Authorization: Bearer token-0",
        ]

        /// Sends `calls` requests and waits for their responses.
        ///
        /// - Returns: The duration of each call.
        func send(_ calls: Int) -> Latencies {
            var latencies = Latencies()
            var starts: [UnsafeMutableRawPointer: UInt64] = [:]
            var started = 0
            func start() {
                guard started < calls, let easy = makeHandle() else { return }
                started += 1
                starts[easy] = Latencies.now()
                clibcurl_multi_add(multi, easy)
            }
            for _ in 0..<concurrency { start() }
            while !starts.isEmpty {
                var running: Int32 = 0
                var result: Int32 = 0
                clibcurl_multi_perform(multi, &running)
                while let easy = clibcurl_multi_next_ended(multi, &result) {
                    clibcurl_multi_remove(multi, easy)
                    clibcurl_easy_cleanup(easy)
                    if let begun = starts.removeValue(forKey: easy) { latencies.add(since: begun) }
                    start()
                }
                if !starts.isEmpty { clibcurl_multi_poll(multi, 1_000) }
            }
            return latencies
        }
    }
#endif
