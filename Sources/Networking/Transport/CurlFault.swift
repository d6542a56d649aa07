#if os(Linux)
    /// A fault in versions of libcurl, which the engine avoids. Cases without a range concern all versions that the engine loads.
    enum CurlFault: CaseIterable, Sendable {
        case repeatsRequests
        case losesRefusedStreams
        case logsRefusedStreams

        static func faults(of version: CurlVersion, canLimitRepeats: Bool) -> Set<CurlFault> {
            var faults: Set<CurlFault> = canLimitRepeats ? [] : [.repeatsRequests]
            if version < CurlVersion(7, 87) { faults.insert(.losesRefusedStreams) }
            if version >= CurlVersion(7, 87), version < CurlVersion(8, 1) { faults.insert(.logsRefusedStreams) }
            return faults
        }
    }
#endif
