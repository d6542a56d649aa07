import Foundation
import NetworkingTesting
import Testing

@testable import Networking

@Suite("URLs that somebody else has written", .endsInTime)
struct URLReferenceTests {
    /// The examples of RFC 3986 section 5.4.
    @Test(
        "References are resolved as in RFC 3986 section 5.4",
        arguments: [
            ("g:h", "g:h"), ("g", "http://a/b/c/g"), ("./g", "http://a/b/c/g"), ("g/", "http://a/b/c/g/"),
            ("/g", "http://a/g"), ("//g", "http://g"), ("?y", "http://a/b/c/d;p?y"), ("g?y", "http://a/b/c/g?y"),
            ("#s", "http://a/b/c/d;p?q#s"), ("g#s", "http://a/b/c/g#s"), ("g?y#s", "http://a/b/c/g?y#s"),
            (";x", "http://a/b/c/;x"), ("g;x", "http://a/b/c/g;x"), ("g;x?y#s", "http://a/b/c/g;x?y#s"),
            ("", "http://a/b/c/d;p?q"), (".", "http://a/b/c/"), ("./", "http://a/b/c/"), ("..", "http://a/b/"),
            ("../", "http://a/b/"), ("../g", "http://a/b/g"), ("../..", "http://a/"), ("../../", "http://a/"),
            ("../../g", "http://a/g"), ("../../../g", "http://a/g"), ("../../../../g", "http://a/g"),
            ("/./g", "http://a/g"), ("/../g", "http://a/g"), ("g.", "http://a/b/c/g."), (".g", "http://a/b/c/.g"),
            ("g..", "http://a/b/c/g.."), ("..g", "http://a/b/c/..g"), ("./../g", "http://a/b/g"),
            ("./g/.", "http://a/b/c/g/"), ("g/./h", "http://a/b/c/g/h"), ("g/../h", "http://a/b/c/h"),
            ("g;x=1/./y", "http://a/b/c/g;x=1/y"), ("g;x=1/../y", "http://a/b/c/y"),
            ("g?y/./x", "http://a/b/c/g?y/./x"), ("g?y/../x", "http://a/b/c/g?y/../x"),
            ("g#s/./x", "http://a/b/c/g#s/./x"), ("g#s/../x", "http://a/b/c/g#s/../x"),
        ])
    func resolved(reference: String, url: String) {
        let base = URL(string: "http://a/b/c/d;p?q")
        #expect(URL(reference: reference, relativeTo: base)?.absoluteString == url)
    }

    @Test(
        "Valid escapes stay, and exactly the bytes that may not stand in a URL are escaped",
        arguments: [
            ("/a%20b c", "http://a/a%20b%20c"), ("/a%20b|c", "http://a/a%20b%7Cc"),
            ("/list?ids[]=1&q=a%20b", "http://a/list?ids%5B%5D=1&q=a%20b"),
            ("/f?name=a b&sig=x%2By%3D", "http://a/f?name=a%20b&sig=x%2By%3D"),
            ("/f%C3%A9%20x.pdf?sig=a%2Bb%3D&name=ré", "http://a/f%C3%A9%20x.pdf?sig=a%2Bb%3D&name=r%C3%A9"),
            ("/x?sig=a%2Bb%3D&v={1}", "http://a/x?sig=a%2Bb%3D&v=%7B1%7D"), ("/p%zz", "http://a/p%25zz"),
            ("/100%", "http://a/100%25"), ("/%4", "http://a/%254"), ("/%%41", "http://a/%25%41"),
            ("/a<>\"`{}|^\\[]b", "http://a/a%3C%3E%22%60%7B%7D%7C%5E%5C%5B%5Db"),
            ("/a?<>\"`{}|^\\[]b", "http://a/a?%3C%3E%22%60%7B%7D%7C%5E%5C%5B%5Db"),
            ("/a#<>\"`{}|^\\[]b#", "http://a/a#%3C%3E%22%60%7B%7D%7C%5E%5C%5B%5Db%23"),
            ("/-._~!$&'()*+,;=:@/?-._~!$&'()*+,;=:@/?", "http://a/-._~!$&'()*+,;=:@/?-._~!$&'()*+,;=:@/?"),
            ("/a\tb\u{7F}", "http://a/a%09b%7F"), (" \t/x\t ", "http://a/x"), ("/a'\u{301}", "http://a/a'%CC%81"),
            ("http://b//x", "http://b//x"), ("http://b///foo", "http://b///foo"), ("/x?", "http://a/x?"),
            ("http://b?", "http://b?"), ("/\\evil.example", "http://a/%5Cevil.example"),
            ("http://b/a/../b", "http://b/b"), ("//b/a/./b/..", "http://b/a/"), ("http://b/..//x", "http://b//x"),
            ("http://bücher.example/é", "http://xn--bcher-kva.example/%C3%A9"),
            ("http://[::1]:8/a[b]", "http://[::1]:8/a%5Bb%5D"), ("HTTP://B:80/", "HTTP://B:80/"),
            ("2026:x", "http://a/2026:x"), ("a:b", "a:b"), ("./a:b", "http://a/a:b"),
        ])
    func escaped(text: String, url: String) {
        #expect(URL(reference: text, relativeTo: URL(string: "http://a/"))?.absoluteString == url)
    }

    @Test(
        "A text is no URL if its host is not valid, or if nothing tells the scheme",
        arguments: [
            "http://a b/", "http://a\\@b/", "http://[::1/", "http://a:b:c/", "http://\u{202E}/", "/x", "a", "", "//a/x",
            "?q",
        ])
    func invalid(text: String) {
        #expect(URL(reference: text) == nil)
    }

    @Test("A URL in text is sent as it is written; a text without scheme or host is an error")
    func adHoc() async throws {
        let stub = StubTransport()
        stub.on(nil, nil, .text("ok"))
        let service = NetworkService(environment: NetworkEnvironment()) {
            $0.transport = stub
            $0.errorMapping = .unmapped
        }
        for (text, url) in [
            ("http://h/a%20b c", "http://h/a%20b%20c"), ("http://h///foo", "http://h///foo"),
            ("http://h/x?", "http://h/x?"),
            ("http://h/list?ids[]=1&q=a%20b", "http://h/list?ids%5B%5D=1&q=a%20b"), ("http://h", "http://h"),
        ] {
            _ = try await service.request(.url(text), as: .string)
            #expect(stub.requests.last?.url.absoluteString == url)
        }
        _ = try await service.request(.url("http://h/x?").query("a", 1), as: .string)
        #expect(stub.requests.last?.url.absoluteString == "http://h/x?a=1")
        for text in ["h/x", "//h/x", "http:x", "http:///x", "http://a b/", ""] {
            let error = await Fixture.failure { _ = try await service.request(.url(text), as: .string) }
            #expect((error as? NetworkError)?.kind == .invalidRequest, "\(text)")
        }
    }

    @Test("A base URL, a prefix and a path that is a slash keep their last slash")
    func lastSlash() async throws {
        func url(_ base: String, prefix: EndpointPath = "", _ path: EndpointPath, own: String? = nil) async throws
            -> String
        {
            struct Call: Endpoint {
                let path: EndpointPath
                let baseURL: URL
            }
            let environment = NetworkEnvironment(baseURL: URL(string: base), pathPrefix: prefix)
            let own = try own.map { try #require(URL(string: $0)) } ?? NetworkEnvironment.noBaseURL
            let service = NetworkService(environment: environment)
            return try await service.httpRequest(for: Call(path: path, baseURL: own)).url.absoluteString
        }
        #expect(try await url("http://h/api/", "") == "http://h/api/")
        #expect(try await url("http://h/api", "") == "http://h/api")
        #expect(try await url("http://h/api", "/") == "http://h/api/")
        #expect(try await url("http://h/api/", "/") == "http://h/api/")
        #expect(try await url("http://h/api/", "a") == "http://h/api/a")
        #expect(try await url("http://h/api/", "a/") == "http://h/api/a/")
        #expect(try await url("http://h/api/", prefix: "v1", "") == "http://h/api/v1")
        #expect(try await url("http://h/api", prefix: "v1/", "") == "http://h/api/v1/")
        #expect(try await url("http://h/api", prefix: "v1", "/") == "http://h/api/v1/")
        #expect(try await url("http://h/api", "", own: "more/") == "http://h/api/more/")
        #expect(try await url("http://h/api/", "", own: "more") == "http://h/api/more")
        #expect(try await url("http://h", "") == "http://h")
    }
}
