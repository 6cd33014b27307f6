-- AlterTable
ALTER TABLE "run" ADD COLUMN     "input" TEXT,
ADD COLUMN     "queued_by" INTEGER;

-- CreateTable
CREATE TABLE "instance" (
    "id" TEXT NOT NULL,
    "lease_until" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "instance_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE INDEX "run_ended_at_idx" ON "run"("ended_at");
