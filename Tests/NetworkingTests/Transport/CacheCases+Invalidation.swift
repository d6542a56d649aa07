@testable import Networking

extension CacheCase {
    private static let fresh: HTTPHeaders = [.cacheControl: "max-age=60"]

    static let invalidation = [
        CacheCase(
            "4.4", "A non-error response to an unsafe method removes the responses of the URL", .sent(fresh),
            .sent([:], "", .noContent) { $0.method = .put }, .sent()),
        CacheCase(
            "4.4", "A redirect of an unsafe method removes the responses of the URL", .sent(fresh),
            .sent([:], "", .seeOther) { $0.method = .post }, .sent()),
        CacheCase(
            "4.4", "An error response to an unsafe method removes nothing", .sent(fresh),
            .sent([:], "", .conflict) { $0.method = .put }, .cached()),
        CacheCase(
            "4.4", "A URL with the default port equals the URL without a port", .sent(fresh),
            .sent { ($0.method, $0.url) = (.put, "HTTPS://API.example.com:443/a") }, .sent()),
        CacheCase("4.4", "A safe method removes nothing", .sent(fresh), .sent { $0.method = .options }, .cached()),
        CacheCase(
            "4.4", "An unknown method removes the responses of the URL", .sent(fresh), .sent { $0.method = "FROB" },
            .sent()),
        CacheCase(
            "4.4", "The responses of other URLs remain", .sent(fresh), .sent { ($0.method, $0.path) = (.post, "b") },
            .cached()),
        CacheCase(
            "4.4", "The responses of Location are removed", .sent(fresh),
            .sent([.location: "/a"], "", .created) { ($0.method, $0.path) = (.post, "b") }, .sent()),
        CacheCase(
            "4.4", "The responses of Content-Location are removed", .sent(fresh),
            .sent(["Content-Location": "https://api.example.com/a"]) { ($0.method, $0.path) = (.post, "b") }, .sent()),
        CacheCase(
            "4.4", "All responses of the URL are removed, for all values of the fields that Vary names",
            .sent(fresh.merging([.vary: "Accept"]), "one") { $0.sends = [.accept: "text/a"] },
            .sent(fresh.merging([.vary: "Accept"]), "two") { $0.sends = [.accept: "text/b"] },
            .sent([:], "", .noContent) { $0.method = .delete }, .sent { $0.sends = [.accept: "text/a"] },
            .sent { $0.sends = [.accept: "text/b"] }),
        CacheCase(
            "4.4", "An unsafe method removes the responses, even if the call does not use the cache", .sent(fresh),
            .sent([:], "", .noContent) { ($0.method, $0.rule) = (.patch, .off) }, .sent()),
        CacheCase(
            "4.4", "Location and Content-Location remove no stored response of another origin",
            .sent(fresh) { $0.url = "https://other.example.com/a" },
            .sent([.location: "https://other.example.com/a"], "", .created) { $0.method = .post },
            .sent(["Content-Location": "https://other.example.com/a"]) { $0.method = .put },
            .cached { $0.url = "https://other.example.com/a" }),
    ]
}
