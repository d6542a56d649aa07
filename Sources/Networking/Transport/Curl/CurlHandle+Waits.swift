#if os(Linux)
    import CLibcurl

    /// Waiting for the connection of another request, which is useful only if HTTP/2 is possible. See
    /// ``CurlFault/waitsForHeads``.
    extension CurlHandle {
        func waitForOthers() {
            set(CCURLOPT_PIPEWAIT, 1)
            mayBeWaiting = library.has(.waitsForHeads)
        }

        /// Records that libcurl opens a connection for the request.
        func noteOpening() { mayBeWaiting = false }

        /// Returns whether the request has waited for some time.
        func isWaiting(at now: UInt64) -> Bool {
            guard mayBeWaiting, let exchange, exchange.isConnecting else { return false }
            return exchange.activity.start &+ CurlLoop.connectingInterval <= now
        }

        /// Prevents the request from waiting when it begins again.
        fileprivate func waitNoLonger() {
            set(CCURLOPT_PIPEWAIT, 0)
            mayBeWaiting = false
        }
    }

    extension CurlLoop {
        /// Of each origin, lets the exchange that has waited longest open its own connection.
        func endWaits(of handles: [CurlHandle]) {
            let waiting = handles.filter { $0.isWaiting(at: now) }
            for handles in Dictionary(grouping: waiting, by: { $0.exchange?.request.origin }).values {
                let first = handles.min { ($0.exchange?.activity.start ?? 0) < ($1.exchange?.activity.start ?? 0) }
                guard let first else { continue }
                clibcurl_multi_remove(multi.pointer, first.easy)
                first.waitNoLonger()
                add(first)
            }
        }
    }
#endif
