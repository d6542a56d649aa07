#if os(Linux)
    import CLibcurl
    import Foundation

    /// Small bodies in memory. libcurl gets them as a whole, and sends them together with the head.
    extension CurlHandle {
        /// Passes the body of an exchange to libcurl if it is small and in memory. Not before 8.7 if HTTP/2 is possible:
        /// nothing would be gained, and libcurl's size of the request would not include the body.
        func takeSmallBody(of exchange: CurlExchange) throws {
            guard !mayUseHTTP2 || library.number >= CurlVersion(8, 7), let body = exchange.takeSmallBody() else {
                return
            }
            try give(body)
        }

        /// Passes a whole body to libcurl, which copies it. Over HTTP/1.1, libcurl sends it together with the head, in
        /// one system call instead of two.
        private func give(_ body: Data) throws {
            hasBody = true
            clibcurl_easy_set_offset(easy, Int32(CCURLOPT_POSTFIELDSIZE_LARGE), Int64(body.count))
            let code = body.withUnsafeBytes {
                clibcurl_easy_set_pointer(easy, Int32(CCURLOPT_COPYPOSTFIELDS), $0.baseAddress)
            }
            guard code == CCURLE_OK else { throw NetworkError(.unknown, reason: "libcurl has no memory for the body") }
        }

        /// Returns lines that prevent libcurl from adding fields of its own.
        func fieldsToOmit(_ headers: HTTPHeaders) -> [String] {
            let type = hasBody && !headers.contains(.contentType) ? ["Content-Type:"] : []
            return headers.contains(.expect) ? type : type + ["Expect:"]
        }
    }

    extension CurlExchange {
        /// Returns the whole body, and closes it, if it is small and in memory; nil for any other body.
        fileprivate func takeSmallBody() -> Data? {
            guard case .data(let data) = request.body.content, 1...CurlExchange.smallBody ~= data.count,
                !request.allHeaders.contains(.expect)
            else { return nil }
            closeBody()
            takenBytes = data.count
            return data
        }

        /// The size of the largest small body. With a head of the same size, it fits into one record of TLS.
        private static let smallBody = 8_192

        /// Reports the bytes of a small body as sent, when the request has a connection. Before libcurl 7.80, they are
        /// reported when the head of the response arrives.
        func reportTakenBytes() {
            guard takenBytes > 0 else { return }
            request.progress?.noteSent(takenBytes)
            takenBytes = 0
        }
    }
#endif
