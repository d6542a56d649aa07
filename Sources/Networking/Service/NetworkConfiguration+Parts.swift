// Puts the parts into the order in which they process a request.
extension NetworkConfiguration {
    /// Returns the policies that admit a request, in the order of their stages.
    func policies(_ session: AccessTokenSupervisor?) -> [any AdmissionPolicy] {
        let own: [(any AdmissionPolicy)?] = [circuitBreaker, backoffGate, concurrencyLimit]
        let token = admissionPolicies.contains { $0 is TokenGate } ? nil : session?.gate
        let policies = own.compactMap { $0 } + admissionPolicies + [token].compactMap { $0 }
        return policies.enumerated()
            .sorted { ($0.element.admissionStage, $0.offset) < ($1.element.admissionStage, $1.offset) }.map(\.element)
    }

    func adapting(_ session: AccessTokenSupervisor?) -> RequestAdaptingService {
        let adapters = requestAdaptingService.adapters
        guard let session, !adapters.contains(where: { $0 is TokenRequestAdapter }) else {
            return requestAdaptingService
        }
        return RequestAdaptingService(adapters + [session.adapter])
    }

    func handling(_ session: AccessTokenSupervisor?) -> ErrorHandlingService {
        let handlers = errorHandlingService.handlers
        var first: [any ErrorHandler] = []
        if let session, !handlers.contains(where: { $0 is UnauthorizedErrorHandler }) { first.append(session.handler) }
        var last: [any ErrorHandler] = []
        if !handlers.contains(where: { $0 is RetryErrorHandler }) {
            last.append(RetryErrorHandler(retry, random: random))
        }
        if errorMapping.isGeneral, !handlers.contains(where: { $0 is GeneralErrorHandler }) {
            last.append(GeneralErrorHandler())
        }
        return errorHandlingService.between(first, and: last, mapping: errorMapping.map)
    }

    /// Returns the chain of transports. The transport that is created last is the outermost.
    func sending() -> any Transport {
        let base = transport ?? PlatformTransport.shared
        let storingCookies: any Transport = cookies.map { SetCookieTransport(base, jar: $0) } ?? base
        let caching: any Transport = cache.map { CachingTransport(storingCookies, cache: $0) } ?? storingCookies
        let carrying: any Transport = cookies.map { CookieTransport(caching, jar: $0) } ?? caching
        let following = RedirectFollowingTransport(carrying, policy: redirects)
        return DownloadTransport(base: DuplicateHandlingTransport(following, policy: duplicates))
    }

    /// Returns the session that the parts belong to, or an error if they belong to two sessions. Both are nil if no part
    /// has a session.
    func soleSession() -> (session: AccessTokenSupervisor?, error: NetworkError?) {
        var first = session.map { (supervisor: $0, part: "authorizedBy") }
        let parts: [any Sendable] =
            admissionPolicies + requestAdaptingService.adapters + errorHandlingService.handlers
        for part in parts {
            guard let supervisor = (part as? any AccessTokenPart)?.supervisor else { continue }
            let known = first ?? (supervisor, "\(type(of: part))")
            guard known.supervisor === supervisor else {
                let error = NetworkError(
                    .invalidRequest,
                    reason: "session: expected one AccessTokenSupervisor for each service, found two: "
                        + "\(known.part) and \(type(of: part)) belong to different supervisors; "
                        + "create one service for each supervisor")
                return (nil, error)
            }
            first = known
        }
        return (first?.supervisor, nil)
    }

    /// The parts that take part in a reset, each object once.
    var resetParticipants: [any ResetParticipant] {
        var seen: Set<ObjectIdentifier> = []
        let objects: [(any ResetParticipant)?] = [
            cache, cache?.revalidations, transport, circuitBreaker, backoffGate, concurrencyLimit,
        ]
        let parts: [any ResetParticipant] =
            admissionPolicies + requestAdaptingService.adapters + errorHandlingService.current
        return (objects.compactMap { $0 } + parts).filter {
            !(type(of: $0) is AnyClass) || seen.insert(ObjectIdentifier($0 as AnyObject)).inserted
        }
    }
}
