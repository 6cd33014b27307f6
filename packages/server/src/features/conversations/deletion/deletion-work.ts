/** Shared within the process: requests wake the purge, and it skips rows that a request is working on. */
export interface DeletionWork {
  /** Something was hidden. */
  wake(): void
  onWake(hear: () => void): void
  /** Ids of erasures that a request works on. */
  erasing: Set<number>
}

export function createDeletionWork(): DeletionWork {
  let purge = () => {}
  return {
    wake: () => purge(),
    onWake(hear) {
      purge = hear
    },
    erasing: new Set(),
  }
}
