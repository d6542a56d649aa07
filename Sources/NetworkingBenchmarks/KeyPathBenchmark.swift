#if os(Linux)
    import Foundation
    import Networking

    /// Measures the cost of decoding a part of a body at a key path instead of the whole body.
    struct KeyPathBenchmark: Benchmark {
        let name = "keypath"
        let explanation = "1 MiB of JSON decoded as a whole, and the same values at a key path."

        private struct Wrapped: Decodable {
            struct Inner: Decodable { let items: [Contact] }
            let data: Inner
        }

        func run(_ report: Report, isQuick: Bool) async throws {
            guard let url = URL(string: "http://127.0.0.1:1/") else { return }
            let item = Contact.sample
            let count = (1 << 20) / (item.utf8.count + 1)
            let list = "[" + Array(repeating: item, count: count).joined(separator: ",") + "]"
            let request = HTTPRequest(.get, url)
            let whole = HTTPResponse(.ok, content: .data(Data(list.utf8)), to: request)
            let below = HTTPResponse(.ok, content: .data(Data("{\"data\":{\"items\":\(list)}}".utf8)), to: request)
            let plain = ResponseConverter.json([Contact].self)
            let path = ResponseConverter.keyPath("data.items", .json([Contact].self))
            let typed = ResponseConverter.json(Wrapped.self).map(\.data.items)
            var taken = [[Double]](repeating: [], count: 3)
            for _ in 0..<(isQuick ? 3 : 15) {
                taken[0].append(try await measure(whole, plain))
                taken[1].append(try await measure(below, path))
                taken[2].append(try await measure(below, typed))
            }
            for (index, subject) in ["plain", "keypath", "wrapper type"].enumerated() {
                let median = taken[index].median
                report.add(
                    Row(
                        subject: subject, cpuMicrosecondsPerCall: median,
                        note: String(format: "%.2f times plain", median / taken[0].median)))
            }
        }

        private func measure(_ response: HTTPResponse, _ converter: ResponseConverter<[Contact]>) async throws -> Double
        {
            try await Measurement.of {
                _ = try await converter.convert(response)
                return 1
            }.microsecondsPerCall
        }
    }
#endif
