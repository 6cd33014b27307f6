/** What deleting shares within the process: requests wake the purge, and it leaves alone what a request works on. */
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
