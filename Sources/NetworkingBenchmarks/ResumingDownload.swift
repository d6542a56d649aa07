#if os(Linux)
    import Foundation
    import Networking

    /// A download in a process of its own, which a benchmark kills: `download-to URL FILE`.
    enum ResumingDownload {
        private struct Whole: Endpoint {
            let baseURL: URL
            var path: EndpointPath { "" }
        }

        /// - Returns: The exit status: 0 if the file is complete, 1 if the download failed, 2 for wrong arguments.
        static func run(_ arguments: [String]) async -> Int32 {
            guard arguments.count == 2, let url = URL(string: arguments[0]) else { return 2 }
            do {
                _ = try await NetworkService().request(
                    Whole(baseURL: url),
                    as: .file(at: URL(fileURLWithPath: arguments[1]), overwriting: .replace, resuming: .sameAddress))
                return 0
            } catch {
                print(error)
                return 1
            }
        }
    }
#endif
