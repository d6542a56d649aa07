import Foundation

/// The example program. `swift run Example` runs a tour against a server in this process.
/// `swift run Example --url URL [--bearer TOKEN]` fetches a real URL.
@main
struct Example {
    static func main() async {
        do {
            let arguments = try Arguments(Array(CommandLine.arguments.dropFirst()))
            switch arguments {
            case .tour(let output): exit(try await Tour.play(output) ? 0 : 1)
            case .fetch(let url, let bearer): exit(await Fetch.run(url, bearer: bearer) ? 0 : 1)
            case .write(let folder, let url): try await Writes.write(in: folder, to: url)
            case .upload(let file, let url): try await Uploads.upload(file, to: url)
            case .help: print(Arguments.usage)
            }
        } catch {
            print("error: \(error)")
            exit(2)
        }
    }
}
