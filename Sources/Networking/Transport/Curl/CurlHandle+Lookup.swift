#if os(Linux)
    import CLibcurl

    /// The lookup of a name, and the connect timeout: see ``CurlFault/joinedLookups``.
    extension CurlHandle {
        func setConnectTimeout(_ time: Duration) {
            set(CCURLOPT_CONNECTTIMEOUT_MS, min(max(time.milliseconds, 1), Int(Int32.max)))
        }

        /// Records whether libcurl is looking up a name. During the lookup, the loop applies the connect timeout,
        /// because libcurl would apply it too late.
        func noteLookup(_ isLookingUp: Bool) {
            guard library.has(.joinedLookups), isLookingUp != self.isLookingUp,
                let request = exchange?.request ?? webSocket?.request
            else { return }
            // With a SOCKS proxy, libcurl looks up the name of the target after it has connected to the proxy.
            guard !isLookingUp || !hasSocket else { return }
            self.isLookingUp = isLookingUp
            let timeout = request.timeouts.effectiveConnect
            setConnectTimeout(isLookingUp ? timeout + .seconds(1) : timeout)
            if isLookingUp { exchange?.noteLookup() }
        }

        /// Leaves the handle to libcurl until the lookup has ended. The lookup has no further time limit.
        func abandon() {
            setConnectTimeout(.milliseconds(Int64(Int32.max)))
        }
    }
#endif
