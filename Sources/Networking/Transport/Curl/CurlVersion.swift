#if os(Linux)
    /// A version of libcurl.
    struct CurlVersion: Comparable, Sendable {
        private let number: UInt32

        init(_ major: UInt32, _ minor: UInt32, _ patch: UInt32 = 0) {
            number = major << 16 | minor << 8 | patch
        }

        /// - Parameter number: The number as libcurl has it, `0xMMmmpp`.
        init(number: UInt32) {
            self.number = number
        }

        static func < (first: CurlVersion, second: CurlVersion) -> Bool { first.number < second.number }
    }
#endif
