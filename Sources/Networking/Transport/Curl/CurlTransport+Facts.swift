#if os(Linux)
    extension CurlTransport: InspectablePart {
        /// The number of open and of idle connections.
        public func facts() async -> [(name: String, value: String)] {
            let connections = await connections()
            return [("connections open", "\(connections.open)"), ("of them idle", "\(connections.idle)")]
        }
    }
#endif
