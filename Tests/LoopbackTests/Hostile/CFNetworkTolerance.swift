import Networking

/// What CFNetwork accepts although it breaks the rules of HTTP, by kind.
///
/// The cases state what an RFC requires. CFNetwork is more lenient than libcurl, and has no limit for heads. Its exact
/// behaviour is not documented, and no Apple machine has run the cases yet. On Apple platforms, a case with a tolerance
/// therefore checks that the call ends in time, with a response or with an error of the right family, and that the
/// transport serves other calls afterwards.
enum CFNetworkTolerance: CaseIterable {
    /// Status lines, fields and bytes before them that are no HTTP, and heads of any size.
    case heads
    /// Lengths, chunk sizes, transfer and content codings that contradict each other or the body.
    case framing
    /// An end of the connection, which has one code for every place.
    case ends

    /// The kinds of errors with which a call may also end.
    private var kinds: Set<NetworkError.Kind> {
        switch self {
        case .heads:
            [
                .malformedResponse, .responseTooLarge, .connectionLostBeforeHead, .connectionLostAfterHead,
                .redirectRefused,
            ]
        case .framing:
            [
                .malformedResponse, .undecodableContent, .responseTooLarge, .truncatedBody, .connectionLostBeforeHead,
                .connectionLostAfterHead,
            ]
        case .ends:
            [
                .malformedResponse, .truncatedBody, .undecodableContent, .connectionLostBeforeHead,
                .connectionLostAfterHead,
            ]
        }
    }

    /// Whether a response may be accepted that the RFCs reject. A body that has ended early is never accepted.
    private var acceptsResponses: Bool { self != .ends }

    func allows(_ result: Result<HTTPResponse, NetworkError>) -> Bool {
        switch result {
        case .success: acceptsResponses
        case .failure(let error): kinds.contains(error.kind)
        }
    }
}
