#if os(Linux)
    import Networking

    /// A contact with the ten fields that the `get` benchmark decodes.
    struct Contact: Codable, Sendable {
        let id: Int
        let name: String
        let email: String
        let phone: String
        let street: String
        let city: String
        let country: String
        let isFavourite: Bool
        let score: Double
        let notes: String

        /// 1 KiB of JSON.
        static let sample: String = {
            let fields = """
                {"id":71,"name":"Ada Lovelace","email":"ada@example.com","phone":"+44 20 7946 0018","street":"12 St James's Square",\
                "city":"London","country":"United Kingdom","isFavourite":true,"score":97.25,"notes":"
                """
            return fields + String(repeating: "n", count: 1_024 - fields.utf8.count - 2) + "\"}"
        }()
    }

    enum BenchmarkEndpoint: Endpoint {
        case contact
        case item(Int)
        case refresh

        var path: EndpointPath {
            switch self {
            case .contact: "json"
            case .item(let id): "items/\(id)"
            case .refresh: "refresh"
            }
        }

        var method: HTTPMethod {
            switch self {
            case .contact, .item: .get
            case .refresh: .post
            }
        }

        var authorizationType: AuthorizationType {
            switch self {
            case .contact, .item: .bearer
            case .refresh: .none
            }
        }
    }

    struct ContactUpdate: Endpoint {
        let contact: Contact

        var path: EndpointPath { "json" }
        var method: HTTPMethod { .post }
        var body: HTTPBody { .json(contact) }
        var authorizationType: AuthorizationType { .bearer }
    }

    struct Item: Decodable, Sendable {
        let id: String
    }

    struct Grant: Decodable, Sendable {
        let token: String
    }
#endif
