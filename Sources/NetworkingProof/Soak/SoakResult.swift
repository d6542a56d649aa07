#if os(Linux)
    /// The windows of a soak test, and the rules that they break.
    struct SoakResult: Sendable {
        let plan: SoakPlan
        var windows: [SoakWindow] = []
        var calls = 0
        /// The calls with an outcome that they must not have.
        var faults: [String] = []
        /// The resources in use before the first call, and after the last call.
        var uses: (first: SoakSample, last: SoakSample)

        /// The windows after the warm-up.
        private var counted: [SoakWindow] { windows.filter { $0.second > plan.warmUp } }

        /// The growth of the resident memory at rest, from the first counted window to the last one.
        var growthKiB: Int {
            guard let first = counted.first, let last = counted.last else { return 0 }
            return last.residentKiB - first.residentKiB
        }

        var violations: [String] {
            guard let first = counted.first, let last = counted.last, counted.count > 1 else {
                return faults + ["fewer than two windows after the first \(plan.warmUp) s"]
            }
            var found = faults
            if growthKiB >= plan.growthKiB {
                found.append("the resident memory grew by \(growthKiB) KiB, expected below \(plan.growthKiB.grouped)")
            }
            if last.descriptors > first.mostDescriptors {
                found.append(
                    "descriptors: at least \(last.descriptors) in the last window, at most "
                        + "\(first.mostDescriptors) in the first")
            }
            if last.threads > first.mostThreads + plan.threads {
                found.append(
                    "threads: at least \(last.threads) in the last window, at most \(first.mostThreads) in the first, "
                        + "expected at most \(plan.threads) more")
            }
            if uses.last.descriptors > uses.first.descriptors {
                found.append(
                    "\(uses.last.descriptors) descriptors after the last call, \(uses.first.descriptors) before the first"
                )
            }
            for window in windows where window.calls == 0 {
                found.append("no call ended in the window that ended at \(window.second) s")
            }
            return found
        }
    }
#endif
