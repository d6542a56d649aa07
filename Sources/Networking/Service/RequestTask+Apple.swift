#if canImport(Darwin)
    public import Combine
    import Foundation

    extension RequestTask {
        /// A publisher that publishes the value of the call.
        ///
        /// The call is already in progress and runs only once: every subscriber gets the same value. Cancelling one
        /// subscription cancels the call, and therefore the other subscriptions.
        public var publisher: AnyPublisher<Value, any Error> {
            Future<Value, any Error> { promise in
                nonisolated(unsafe) let promise = promise  // because any thread may call it, once
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
            /// The state of the call. It is updated when the request has been created, when the progress changes, after
            /// each attempt, when the call is cancelled, and when the call ends. Pausing and resuming alone do not
            /// update it.
            @Published public private(set) var state: RequestState
            /// The result of the call; nil before the call ends.
            @Published public private(set) var result: Result<Value, any Error>?
            /// The observed call.
            public let task: RequestTask

            /// Creates an object that observes a call.
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
        /// The reachability status for SwiftUI: `@StateObject var network = ReachabilityService.ObservableStatus(of:
        /// reachability)`.
        ///
        /// This object does not start the monitoring of the service.
        @MainActor
        public final class ObservableStatus: ObservableObject {
            /// The most recent status.
            @Published public private(set) var status: ReachabilityStatus
            private let service: ReachabilityService
            private var token: ObservationToken?

            /// Creates an object that observes a service.
            public init(of service: ReachabilityService) {
                self.service = service
                status = service.status
                token = service.statuses.observe(replayingCurrent: true) { [weak self] status in self?.status = status }
            }
        }
    }
#endif
