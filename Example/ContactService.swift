import Networking

struct Contact: Codable, Sendable {
    let id: Int
    let name: String
}

enum ContactError: Error {
    case unknownContact
    case subscriptionRequired
}

/// The endpoints for contacts.
enum ContactEndpoint {
    case fetch(id: Int)
    case rename(id: Int, to: String)
    case export
    case flaky
    case slow
}

extension ContactEndpoint: Endpoint {
    var path: EndpointPath {
        switch self {
        case .fetch(let id), .rename(let id, _): "contacts/\(id)"
        case .export: "export"
        case .flaky: "flaky"
        case .slow: "slow"
        }
    }

    var method: HTTPMethod {
        switch self {
        case .rename: .patch
        case .fetch, .export, .flaky, .slow: .get
        }
    }

    var body: HTTPBody {
        switch self {
        case .rename(_, let name): .json(["name": name])
        case .fetch, .export, .flaky, .slow: .empty
        }
    }

    var authorizationType: AuthorizationType { .bearer }

    var settings: RequestSettings {
        switch self {
        case .slow: RequestSettings { $0.timeouts.total = .milliseconds(150) }
        case .fetch, .rename, .export, .flaky: RequestSettings()
        }
    }

    func error(for status: HTTPStatus) -> (any Error)? {
        status == .notFound ? ContactError.unknownContact : nil
    }
}

final class ContactService: NetworkService, @unchecked Sendable {
    func contact(_ id: Int) async throws -> Contact { try await request(ContactEndpoint.fetch(id: id)) }

    func rename(_ id: Int, to name: String) async throws { try await request(ContactEndpoint.rename(id: id, to: name)) }

    func export() async throws -> String { try await request(ContactEndpoint.export) }

    func flaky() async throws -> String { try await request(ContactEndpoint.flaky) }

    func slow() async throws -> String { try await request(ContactEndpoint.slow) }
}
