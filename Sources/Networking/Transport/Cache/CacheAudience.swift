import Foundation

/// The requests for which a stored response may be used (RFC 9111 section 4.1).
struct CacheAudience: Sendable {
    /// The fields that the `Vary` fields of the response name.
    private let varying: [HTTPHeader.Name]
    /// The fields that a request must have: `Host`, the fields that may identify the user, and the fields in
    /// ``varying``. Additional fields identify the parts of the request, for example the session whose token the
    /// request carries.
    let fields: HTTPHeaders

    // The name of the fields in `fields` that identify the session and the other parts of the request. No request has a
    // field with this name, because field names must not contain parentheses (RFC 9110 section 5.6.2).
    private static let identity: HTTPHeader.Name = "(identity)"
    private static let session: HTTPHeader.Name = "(session)"

    /// Creates the audience of a response to a request. Returns nil if no request matches (`Vary: *`), or if `Vary` has
    /// too many names.
    init?(of request: HTTPRequest, _ response: HTTPHeaders) {
        guard let varying = CacheAudience.varying(response) else { return nil }
        (self.varying, fields) = (varying, CacheAudience.fields(of: request, varying))
    }

    /// Creates the audience of a stored response from its parts.
    init?(_ fields: HTTPHeaders, _ response: HTTPHeaders) {
        guard let varying = CacheAudience.varying(response) else { return nil }
        (self.varying, self.fields) = (varying, fields)
    }

    /// Whether the response has a `Vary` field with names.
    var varies: Bool { !varying.isEmpty }

    func contains(_ request: HTTPRequest) -> Bool {
        CacheAudience.isEqual(CacheAudience.fields(of: request, varying), fields)
    }

    /// Whether two lists of fields have the same names and values. Different tokens of one session count as equal. The
    /// comparison ignores whether the app has marked a field as sensitive, because files do not contain this mark.
    private static func isEqual(_ fields: HTTPHeaders, _ others: HTTPHeaders) -> Bool {
        let isSame = { (one: HTTPHeader, other: HTTPHeader) in one.name == other.name && one.value == other.value }
        if fields.elementsEqual(others, by: isSame) { return true }
        let isSameSession = fields.contains(session) && fields[session] == others[session]
        let isCompared = { (field: HTTPHeader) in
            field.name != session && !(isSameSession && field.name == .authorization)
        }
        return fields.lazy.filter(isCompared).elementsEqual(others.lazy.filter(isCompared), by: isSame)
    }

    private static func varying(_ response: HTTPHeaders) -> [HTTPHeader.Name]? {
        let names = response.listedNames(in: .vary)
        return names.contains("*") || names.count > 32 ? nil : names
    }

    /// Returns the fields that distinguish requests. `Host` and the fields that may identify the user keep their
    /// values. The other fields that `Vary` names have normalized values.
    private static func fields(of request: HTTPRequest, _ varying: [HTTPHeader.Name]) -> HTTPHeaders {
        let all = request.headersWithCredentials
        var headers = all
        headers.removeAll { !$0.mayIdentifyUser && $0.name != .host }
        for name in varying where all.contains(name) && !headers.contains(name) {
            headers.append(HTTPHeader(name, normalized(all.values(for: name), name)))
        }
        // A response is used for requests with any token of the same session, unless it has `Vary: Authorization`. If
        // the app has replaced the credentials of the session, the request belongs to another user.
        let user = headers.lazy.filter { $0.name == .authorization }.compactMap(\.user).first
        if let user, !varying.contains(.authorization) { headers.append(HTTPHeader(session, user.id)) }
        // After a redirect to another origin, the request carries no client certificate, so the server may send another
        // response.
        let elsewhere = request.isElsewhere ? ["elsewhere"] : []
        for value in request.parts.identity(without: CacheOrder.self) + elsewhere where value != user?.id {
            headers.append(HTTPHeader(CacheAudience.identity, value))
        }
        return headers
    }

    /// Returns the values of a field as one value. If the cache knows that the field is a list, the blanks around
    /// commas are removed. Case-insensitive elements of a list are converted to lower case.
    private static func normalized(_ values: [String], _ name: HTTPHeader.Name) -> String {
        let value = values.joined(separator: ",")
        let ignoresCase = ["Accept-Charset", .acceptEncoding, .acceptLanguage].contains(name)
        // A quoted string may contain commas and blanks.
        guard ignoresCase || name == .accept, !value.contains("\"") else { return values.joined(separator: ", ") }
        let elements = value.split(separator: ",", omittingEmptySubsequences: false)
            .map { element in element.trimmingCharacters(in: .whitespaces) }.joined(separator: ",")
        return ignoresCase ? elements.lowercased() : elements
    }
}

extension HTTPRequest {
    /// The header fields that are sent, including the `Authorization` field that an engine creates from the user in the
    /// URL.
    var headersWithCredentials: HTTPHeaders {
        var headers = allHeaders
        if let user = url.user(percentEncoded: true), !headers.contains(.authorization) {
            headers.append(HTTPHeader(.authorization, "\(user):\(url.password(percentEncoded: true) ?? "")"))
        }
        return headers
    }
}

extension CacheAudience: Equatable {
    static func == (one: CacheAudience, other: CacheAudience) -> Bool {
        isEqual(one.fields, other.fields) && one.varying == other.varying
    }
}

extension HTTPHeaders {
    /// Returns the field names that a field such as `Vary` or `Connection` lists, without duplicates.
    func listedNames(in field: HTTPHeader.Name) -> [HTTPHeader.Name] {
        var seen: Set<HTTPHeader.Name> = []
        return values(for: field).flatMap { $0.split(separator: ",") }
            .map { HTTPHeader.Name($0.trimmingCharacters(in: .whitespaces)) }
            .filter { !$0.rawValue.isEmpty && seen.insert($0).inserted }
    }
}
