#if os(Linux)
    import CLibcurl
    import Foundation

    extension CurlHandle {
        /// Sets the options for the connection of a WebSocket. After `CURLOPT_CONNECT_ONLY` is set, libcurl sends no
        /// request.
        func prepare(for webSocket: CurlWebSocket) throws {
            self.webSocket = webSocket
            let request = webSocket.request
            isSecure = request.isSecure
            set(CCURLOPT_CONNECT_ONLY, 1)
            set(CCURLOPT_HTTP_VERSION, CCURL_HTTP_VERSION_1_1)
            // An http proxy would treat the request as a request to itself.
            if !isDirect { set(CCURLOPT_HTTPPROXYTUNNEL, 1) }
            try setConnection(for: request)
            guard set(CCURLOPT_URL, request.url.absoluteString) == CCURLE_OK else {
                throw NetworkError(.invalidRequest, reason: "URL: libcurl cannot parse the URL of the request")
            }
        }
    }
#endif
