#if os(Linux)
    import CLibcurl

    /// Waiting for the connection of another request, which is useful only if HTTP/2 is possible. See
    /// ``CurlFault/waitsForHeads``.
    extension CurlHandle {
        func waitForOthers(for origin: HTTPOrigin?) {
            if let origin, let time = sockets.pool.impatient[origin], time > sockets.now { return }
            set(CCURLOPT_PIPEWAIT, 1)
            mayBeWaiting = library.has(.waitsForHeads)
        }

        /// Records that libcurl opens a connection for the request.
        func noteOpening() { mayBeWaiting = false }

        /// Returns whether the request has waited for some time.
        fileprivate func isWaiting(at now: UInt64) -> Bool {
            guard mayBeWaiting, let exchange, exchange.isConnecting else { return false }
            return exchange.activity.start &+ CurlLoop.connectingInterval <= now
        }

        /// Prevents the request from waiting when it begins again.
        fileprivate func waitNoLonger(at now: UInt64) {
            set(CCURLOPT_PIPEWAIT, 0)
            mayBeWaiting = false
            guard let end = exchange?.activity.connectEnd else { return }
            setConnectTimeout(.nanoseconds(Int64(clamping: end > now ? end - now : 0)))
        }
    }

    extension CurlLoop {
        /// Lets exchanges that wait for the head of another exchange open their own connections: first the exchange
        /// that has waited longest, of each origin; the others at the next check, unless a connection is being opened.
        /// From then on, libcurl also finds connections on which a head has arrived. Therefore, new requests to the
        /// origin do not wait for a minute.
        ///
        /// - Parameter connecting: The exchanges of which nothing has been sent.
        func endWaits(of connecting: [CurlHandle]) {
            guard library.has(.waitsForHeads) else { return }
            var waiting = Dictionary(
                grouping: connecting.filter { $0.isWaiting(at: now) }, by: { $0.exchange?.request.origin })
            for handle in connecting where !handle.mayBeWaiting { waiting[handle.exchange?.request.origin] = nil }
            for case (let origin?, let handles) in waiting {
                let isFirst = sockets.pool.note(impatient: origin, at: now)
                let oldest = handles.min { ($0.exchange?.activity.start ?? 0) < ($1.exchange?.activity.start ?? 0) }
                for handle in isFirst ? oldest.map({ [$0] }) ?? [] : handles {
                    clibcurl_multi_remove(multi.pointer, handle.easy)
                    handle.waitNoLonger(at: now)
                    add(handle)
                }
            }
        }
    }
#endif
