import Testing

extension Trait where Self == TimeLimitTrait {
    /// The time limit of every test, which is long on any machine: if a fault makes a test hang, the run names the test.
    static var endsInTime: TimeLimitTrait { .timeLimit(.minutes(5)) }
}
