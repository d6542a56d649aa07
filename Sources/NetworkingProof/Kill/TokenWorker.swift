import ExampleEtcd
import Foundation
import Networking

/// One of several processes that share a session. It sends authorized requests until it is killed or its input ends.
/// When its input ends, it completes the calls in progress.
struct TokenWorker: Sendable {
    private let name: String
    private let service: NetworkService
    private let session: AccessTokenSupervisor

    /// - Parameter arguments: The path or URL of the token store, the URL of the server, and the name of the process.
    init?(_ arguments: [String]) {
        guard arguments.count == 3, let server = URL(string: arguments[1]) else { return nil }
        let name = arguments[2]
        self.name = name
        let auth = NetworkService(environment: NetworkEnvironment(baseURL: server))
        let refresh: AccessTokenSupervisor.Refresh = { old in
            let text = try await auth.request(
                .post("token/\(name)").body(.data(Data((old?.refreshToken ?? "").utf8))), as: .string)
            return AccessToken(text, refreshToken: text)
        }
        if let url = URL(string: arguments[0]), url.scheme == "http" {
            session = AccessTokenSupervisor(store: EtcdTokenStore(url, key: "token", lease: 3), refresh: refresh)
        } else {
            let store = AccessTokenFile(URL(fileURLWithPath: arguments[0]), lease: .seconds(2))
            session = AccessTokenSupervisor(store: store, refresh: refresh)
        }
        service = NetworkService(environment: NetworkEnvironment(baseURL: server), authorizedBy: session)
    }

    func run() async {
        let observation = session.events.observe(on: nil) { event in
            guard case .sessionOver(let error) = event else { return }
            FileHandle.standardError.write(Data("\(name): the session is over: \(error)\n".utf8))
            exit(3)
        }
        defer { observation.cancel() }
        let isOver = InputEnd()
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<4 {
                group.addTask {
                    while !isOver.hasCome {
                        _ = try? await service.request(.get("item").authorized())
                        try? await Task.sleep(for: .milliseconds(2))
                    }
                }
            }
        }
    }
}
