#if os(Linux)
    import CLibcurl
    import Glibc

    /// The iterations of the loop, on its thread.
    extension CurlLoop {
        /// Runs until the loop is stopped.
        func run() {
            var commands: [Command] = []
            while true {
                now = CurlLoop.time()
                let isClosed = inbox.take(&commands)
                // Events on sockets are handled before new requests start, so that no request uses an idle connection
                // that has received unexpected data.
                sockets.handleReady(at: now) { [multi] in clibcurl_multi_socket_action(multi, $0.socket, $0.events) }
                for command in commands { follow(command) }
                commands.removeAll(keepingCapacity: true)  // releases the exchanges before the loop waits
                guard !isClosed else { break }
                runTimer()
                collect()
                checkTimeouts()
                wait()
            }
            for handle in active { end(handle, .failure(NetworkError(.transportShutDown))) }
            outcomes.deliver()
            close()
        }

        private func runTimer() {
            guard let due = timer, due <= now else { return }
            timer = nil
            clibcurl_multi_socket_action(multi, Int32(CCURL_SOCKET_TIMEOUT), 0)
        }

        /// Waits until a socket, a timer or the inbox has work. If the inbox already has work, this method checks the
        /// sockets without waiting.
        private func wait() {
            if !outcomes.isEmpty {
                sockets.wait(milliseconds: 0)
                outcomes.endTurn(isQuiet: sockets.isQuiet)
                guard sockets.isQuiet else { return }
            }
            let due = min(timer ?? .max, nextTimeoutCheck)
            if !inbox.fallAsleep() {
                sockets.wait(milliseconds: 0)
            } else if due == .max {
                sockets.wait(milliseconds: -1)
            } else {
                let time = CurlLoop.time()
                let milliseconds = due > time ? (due - time) / 1_000_000 + 1 : 0
                sockets.wait(milliseconds: Int32(min(milliseconds, 1 << 30)))
            }
        }

        static func time() -> UInt64 {
            var time = timespec()
            clock_gettime(CLOCK_MONOTONIC, &time)
            return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
        }
    }
#endif
