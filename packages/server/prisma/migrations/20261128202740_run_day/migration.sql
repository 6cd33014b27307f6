-- CreateTable
CREATE TABLE "run_day" (
    "project_id" INTEGER NOT NULL,
    "day" DATE NOT NULL,
    "scope" TEXT NOT NULL,
    "by" TEXT NOT NULL,
    "cells" JSON NOT NULL,

    CONSTRAINT "run_day_pkey" PRIMARY KEY ("project_id","day","scope","by")
);
