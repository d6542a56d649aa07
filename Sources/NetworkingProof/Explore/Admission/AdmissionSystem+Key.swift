import Networking

// The bytes that distinguish two states. Arrivals, and the numbers that the library gives to waiting requests, are
// written as ranks. The calls are sorted by their bytes.
@available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
extension LiveAdmission {
    func write(to key: inout StateKey) {
        key.write(gate.isOpen)
        let contents = limits.map(\.limit.contents)
        let arrivals = limits.indices.map { limit in
            ledger.entries[limit].compactMap(\.arrival).sorted()
        }
        let numbers = limits.map { limit in
            limit.requests.values.compactMap { $0.number(in: limit.limit) }.sorted()
        }
        var bytes = calls.indices.map { index in
            self.bytes(of: index, contents, arrivals, numbers)
        }
        bytes.sort { $0.lexicographicallyPrecedes($1) }
        for call in bytes { key.write(call) }
        for (limit, contents) in contents.enumerated() {
            key.write(options.origins.map { UInt8(contents.active[$0].map { $0 + 1 } ?? 0) })
            for origin in options.origins {
                key.write([UInt8(contents.reduced[origin]?.limit ?? 0), UInt8(contents.reduced[origin]?.earlier ?? 0)])
            }
            key.write(ledger.earlier[limit].map { UInt8($0) })
            key.write(candidates(contents, numbers[limit]))
        }
    }

    private func bytes(
        of index: Int, _ contents: [ConcurrencyLimit.Contents], _ arrivals: [[Int]], _ numbers: [[UInt64]]
    ) -> [UInt8] {
        let (call, caller) = (calls[index], options.callers[index])
        var bytes: [UInt8] = [
            UInt8(caller.host), UInt8(caller.priority + 100), caller.isReversed ? 1 : 0, call.task == nil ? 0 : 1,
            call.isAdmitted ? 1 : 0, call.isCancelled ? 1 : 0, call.executor.isReady ? 1 : 0,
            gate.isWaiting(index) ? 1 : 0, call.hasHead ? 1 : 0,
        ]
        for limit in limits.indices {
            let entry = ledger.entries[limit][index]
            let number = limits[limit].requests[index].flatMap { $0.number(in: limits[limit].limit) }
            let isInLine = contents[limit].lines.values.contains { $0.values.contains { $0.contains(number ?? 0) } }
            bytes += [
                entry.position.rawValue, rank(entry.arrival, in: arrivals[limit]), rank(number, in: numbers[limit]),
                isInLine ? 1 : 0,
            ]
        }
        return bytes
    }

    private func rank<Number: Equatable>(_ number: Number?, in numbers: [Number]) -> UInt8 {
        number.flatMap { numbers.firstIndex(of: $0) }.map { UInt8($0 + 1) } ?? 0
    }

    /// The candidates of a limit that may still be valid. If several candidates are equal, at most two of them are
    /// included.
    private func candidates(_ contents: ConcurrencyLimit.Contents, _ numbers: [UInt64]) -> [UInt8] {
        let known = contents.candidates.filter { numbers.contains($0.number) }
        var bytes: [[UInt8]] = []
        for candidate in Set(known) {
            let count = known.filter { $0 == candidate }.count
            bytes.append([rank(candidate.number, in: numbers), UInt8(min(count, 2))])
        }
        return bytes.sorted { $0.lexicographicallyPrecedes($1) }.flatMap { $0 } + [0xFF]
    }
}
