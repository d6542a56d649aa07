import Foundation

/// `swift run -c release NetworkingProof [explore|stress|chains|kill|fuzz|growth|fleet|soak] [part…] [--quick] [--seed
/// N] [--count N] [--json] [--svg FILE]`
@main
enum NetworkingProof {
    // The explorer needs only the state machines. Without the other checks, it compiles in seconds. This helps
    // .ci/mutants, which builds a program with the explorer for each mutant.
    #if EXPLORE_ONLY
        private static let checks: [any Check] = [ExploreCheck()]
    #else
        private static let checks: [any Check] = [
            ExploreCheck(), StressCheck(), ChainCheck(), KillCheck(), FuzzCheck(), GrowthCheck(), FleetCheck(),
            SoakCheck(),
        ]
    #endif

    static func main() async throws {
        #if !EXPLORE_ONLY
            if CommandLine.arguments.dropFirst().first == "work" {
                let arguments = Array(CommandLine.arguments.dropFirst(2))
                if arguments.first == "cache", let worker = CacheWorker(Array(arguments.dropFirst())) {
                    await worker.run()
                }
                if arguments.first == "download", let worker = DownloadWorker(Array(arguments.dropFirst())) {
                    return await worker.run()
                }
                if arguments.first == "upload", let worker = UploadWorker(Array(arguments.dropFirst())) {
                    return await worker.run()
                }
                if arguments.first == "outbox", let worker = OutboxWorker(Array(arguments.dropFirst())) {
                    return try await worker.run()
                }
                if arguments.first == "server" { return try SoakServer().run() }
                if arguments.first == "autobahn", let client = AutobahnClient(Array(arguments.dropFirst())) {
                    return try await client.run()
                }
                guard let worker = TokenWorker(arguments) else {
                    refuse("work: expected a store, the URL of a server and a name")
                }
                return await worker.run()
            }
        #endif
        var settings = ProofSettings()
        var names: [String] = []
        var isJSON = false
        var arguments = CommandLine.arguments.dropFirst()
        while let argument = arguments.popFirst() {
            switch argument {
            case "--quick": settings.isQuick = true
            case "--json": isJSON = true
            case "--seed": settings.seed = UInt64(number(after: argument, &arguments))
            case "--count": settings.count = number(after: argument, &arguments)
            case "--svg": settings.plot = text(after: argument, &arguments)
            case let name where name.hasPrefix("--"): refuse("unknown option \(name)")
            default: names.append(argument)
            }
        }
        let known = checks.map(\.name)
        settings.parts = Set(names.filter { !known.contains($0) })
        guard settings.parts.isEmpty || names.first.map(known.contains) == true else {
            refuse("unknown check \(names[0])")
        }
        let strange = settings.parts.subtracting(checks.flatMap(\.parts))
        guard strange.isEmpty else {
            let parts = checks.flatMap(\.parts).joined(separator: " ")
            refuse("unknown part \(strange.sorted().joined(separator: " ")), expected one of \(parts)")
        }
        let report = Report(isJSON: isJSON)
        for check in checks where names.isEmpty || names.contains(check.name) {
            try await check.run(report, settings)
        }
        report.end(settings, without: names.isEmpty ? [] : known.filter { !names.contains($0) })
        exit(report.failureCount == 0 ? 0 : 1)
    }

    private static func number(after option: String, _ arguments: inout ArraySlice<String>) -> Int {
        let text = arguments.popFirst()
        guard let number = text.flatMap({ Int($0) }), number >= 0 else {
            refuse("\(option): expected a number, found \(text ?? "nothing")")
        }
        return number
    }

    private static func text(after option: String, _ arguments: inout ArraySlice<String>) -> String {
        guard let text = arguments.popFirst() else { refuse("\(option): expected the path of a file, found nothing") }
        return text
    }

    private static func refuse(_ reason: String) -> Never {
        let names = checks.map(\.name).joined(separator: "|")
        FileHandle.standardError.write(
            Data("\(reason). Usage: [\(names)] [part…] [--quick] [--seed N] [--count N] [--json] [--svg FILE]\n".utf8))
        exit(2)
    }
}
