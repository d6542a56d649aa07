/// What comes before a response's body.
struct ResponseHead: Sendable {
    let status: HTTPStatus
    let headers: HTTPHeaders
}
