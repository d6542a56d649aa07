/// The rules for one part of the library, which parses untrusted bytes or writes untrusted values. The rules hold for
/// every input.
///
/// Both `NetworkingFuzz` (guided by coverage) and `NetworkingProof fuzz` (seeded mutation of the corpus) run the
/// targets.
package struct FuzzTarget: Sendable {
    /// The name of the target on the command line. The target's folder in the corpus has the same name.
    package let name: String
    /// The number of inputs of a full run.
    package let count: Int
    private let rules: @Sendable (FuzzInput) throws -> Void

    /// The default number of inputs, for targets that process an input in microseconds.
    static let many = 760_000

    init(_ name: String, count: Int = many, _ rules: @escaping @Sendable (FuzzInput) throws -> Void) {
        self.name = name
        self.count = count
        self.rules = rules
    }

    /// Processes an input. Returns the rule that is broken; nil if all rules hold.
    package func violation(by bytes: [UInt8]) -> String? {
        do {
            try rules(FuzzInput(bytes))
            return nil
        } catch let violation as FuzzViolation {
            return violation.rule
        } catch {
            return "threw an error of \(type(of: error)): \(error)"
        }
    }

    /// All targets.
    package static let all = [
        responseHeads, headerMerges, bodies, setCookie, cookieJars, dates, mediaTypes, challenges, links, retryAfter,
        rateLimit, jsonTexts, problemDetails, serverSentEvents, jsonLines, har, cacheEntries, partFiles, tokenFiles,
        outboxEntries,
        leases, removals, endpointPaths, baseURLs, multipartNames, requestHeads,
        webSocketFrames, webSocketHandshakes,
    ]

    /// Removes the files that the targets have left.
    package static func removeFiles() { FuzzFolder.removeAll() }
}
