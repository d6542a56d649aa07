#if canImport(Combine)
    public import Combine
    import Foundation

    extension RequestTask {
        /// The call as a publisher of its one value.
        ///
        /// The call is running already, and runs once: every subscriber gets the same value. Cancelling one
        /// subscription cancels the call, and with it the other subscriptions.
        public var publisher: AnyPublisher<Value, any Error> {
            Future<Value, any Error> { promise in
                nonisolated(unsafe) let promise = promise  // because it may be called from any thread, and is once
                self.onCompletion { promise($0.map(\.value)) }
            }
            .handleEvents(receiveCancel: { _ = self.cancel() })
            .eraseToAnyPublisher()
        }

        /// The state of a call for SwiftUI.
        ///
        /// ```swift
        /// struct UploadView: View {
        ///     @StateObject var upload: RequestTask<Photo>.ObservableState
        ///
        ///     var body: some View {
        ///         if case .running(let progress) = upload.state { ProgressView(value: progress.upload.fraction) }
        ///     }
        /// }
        /// ```
        @MainActor
        public final class ObservableState: ObservableObject {
            /// The call's state. Updated when the request has been made, with each progress, after each attempt, when
            /// the call is cancelled, and at the end. Pausing and resuming alone do not update it.
            @Published public private(set) var state: RequestState
            /// The result; nil before the end.
            @Published public private(set) var result: Result<Value, any Error>?
            /// The call.
            public let task: RequestTask

            /// Observes a call.
            public init(_ task: RequestTask) {
                self.task = task
                state = task.state
                result = task.result
                let update: @Sendable () -> Void = { [weak self] in
                    MainActor.assumeIsolated { self?.update() }  // because the closure runs on the main queue
                }
                task.onStart(on: .main, update)
                    .onProgress(on: .main) { _ in update() }
                    .onAttempt(on: .main) { _ in update() }
                    .onCancel(on: .main, update)
                    .onCompletion(on: .main) { _ in update() }
            }

            private func update() {
                state = task.state
                result = task.result
            }
        }
    }

    extension ReachabilityService {
        /// The status for SwiftUI: `@StateObject var network = ReachabilityService.ObservableStatus(of: reachability)`.
        ///
        /// It does not start monitoring.
        @MainActor
        public final class ObservableStatus: ObservableObject {
            /// The status that was found last.
            @Published public private(set) var status: ReachabilityStatus
            private let service: ReachabilityService
            private var token: ObservationToken?

            /// Observes a service.
            public init(of service: ReachabilityService) {
                self.service = service
                status = service.status
                token = service.statuses.observe(replayingCurrent: true) { [weak self] status in
                    self?.status = status
                }
            }
        }
    }
#endif
