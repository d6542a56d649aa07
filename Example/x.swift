import Foundation
import Networking
import NetworkingTesting
@main struct M { static func main() async throws {
  let s = try LoopbackServer()
  func r(_ p: String, _ a: @escaping @Sendable (LoopbackRequest) async throws -> LoopbackAnswer) { s.route(nil, p, a) }
  r("/ok") { _ in .text("hi") }
  r("/401") { _ in .text("no", status: .unauthorized, headers: [.wwwAuthenticate: "Basic realm=\"x\""]) }
  r("/401b") { _ in LoopbackAnswer(.unauthorized, headers: [.wwwAuthenticate: "Bearer"]) }
  r("/407") { _ in .text("no", status: .proxyAuthenticationRequired, headers: [.proxyAuthenticate: "Basic realm=\"x\""]) }
  r("/302") { _ in .redirect(to: "/ok") }
  r("/302n") { _ in .text("x", status: .found) }
  r("/304") { _ in LoopbackAnswer(.notModified) }
  r("/100") { _ in var a = LoopbackAnswer.text("after"); a.informational = [.processing, .earlyHints]; return a }
  r("/close") { _ in LoopbackAnswer.text("x").failing(.closeBeforeHead) }
  r("/reset") { _ in LoopbackAnswer.text("x").failing(.resetBeforeHead) }
  r("/malformed") { _ in LoopbackAnswer.text("x").failing(.malformedStatusLine) }
  r("/trunc") { _ in LoopbackAnswer.text("hello world").failing(.truncate(after: 3)) }
  r("/midreset") { _ in LoopbackAnswer.text("hello world").failing(.resetMidBody(after: 3)) }
  r("/badchunk") { _ in LoopbackAnswer(.ok, content: .raw(Data("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nabc".utf8))) }
  r("/badheader") { _ in LoopbackAnswer(.ok, content: .raw(Data("HTTP/1.1 200 OK\r\nfoo bar\r\n\r\n".utf8))) }
  r("/stall") { _ in LoopbackAnswer.text("x").failing(.stallBeforeHead) }
  r("/stall2") { _ in LoopbackAnswer.text("x").failing(.stallAfterHead) }
  let t = URLSessionTransport()
  func go(_ m: HTTPMethod = .get, _ u: URL, _ b: HTTPBody = .empty) async {
    let st = ContinuousClock.now
    do { let r = try await t.send(HTTPRequest(m, u, body: b, timeouts: .init(idle: .milliseconds(300))), answering: .whenComplete(limit: 1000)); print(u.path, r.status, r.headers.map(\.description), String(decoding: r.data, as: UTF8.self), ContinuousClock.now - st) }
    catch let e as NetworkError { print(u.path, e.kind, e.reason as Any, e.underlying as Any, "head:", e.response?.status as Any, ContinuousClock.now - st) } catch { print("??", error) }
  }
  for p in ["ok","401","401b","407","302","302n","304","100","close","reset","malformed","trunc","midreset","badchunk","badheader","stall","stall2"] { await go(.get, s.url.appendingPathComponent(p)) }
  await go(.head, s.url.appendingPathComponent("ok"))
  await go(.post, s.url.appendingPathComponent("ok"), .string("abc"))
  await go(.post, s.url.appendingPathComponent("401"), .string("abc"))
  await go(.get, URL(string: "http://nonexistent.invalid/")!)
  await go(.get, URL(string: "https://127.0.0.1:\(s.port)/ok")!)
  s.stop()
  await go(.get, s.url.appendingPathComponent("ok"))
} }
