import { expect, test } from "vitest";
import { drawnSize, isDrawn, isOwnAddress } from "./images";

const PNG = { type: "image", mediaType: "image/png" };

test("only images of the types that browsers draw safely are drawn", () => {
  for (const mediaType of ["image/png", "image/jpeg", "image/webp", "image/gif"]) {
    expect(isDrawn({ type: "image", mediaType })).toBe(true);
  }
  for (const part of [
    { type: "image", mediaType: "image/svg+xml" },
    { type: "image", mediaType: null },
    { type: "image" },
    { type: "file", mediaType: "application/pdf" },
    { type: "file", mediaType: "image/png" },
    { type: "text" },
  ]) {
    expect(isDrawn(part)).toBe(false);
  }
});

test("an image of too many pixels is not drawn", () => {
  expect(isDrawn({ ...PNG, width: 5_000, height: 10_000 })).toBe(true);
  expect(isDrawn({ ...PNG, width: 5_001, height: 10_000 })).toBe(false);
});

test("an image is drawn within bounds, with its proportions, and not enlarged", () => {
  expect(drawnSize({ ...PNG, width: 80, height: 60 })).toEqual({ width: 80, height: 60 });
  expect(drawnSize({ ...PNG, width: 960, height: 320 })).toEqual({ width: 480, height: 160 });
  expect(drawnSize({ ...PNG, width: 640, height: 6_400 })).toEqual({ width: 32, height: 320 });
  expect(drawnSize({ ...PNG, width: 10_000, height: 1 })).toEqual({ width: 480, height: 1 });
  for (const width of [null, undefined, 0, -1]) {
    expect(drawnSize({ ...PNG, width, height: 60 })).toBeNull();
  }
});

test("only addresses of the stack are its own", () => {
  const own = "https://cupel.example";
  const named = "https://bucket.s3.eu-central-1.amazonaws.com https://bucket.s3.amazonaws.com";
  const isOwn = (address: string) => isOwnAddress(address, own, named);
  expect(isOwn("https://cupel.example/files/1?signature=2")).toBe(true);
  expect(isOwn("https://bucket.s3.amazonaws.com/files/1")).toBe(true);
  for (const address of [
    "https://evil.example/x.png",
    "https://bucket.s3.amazonaws.com.evil.example/x.png",
    "http://bucket.s3.amazonaws.com/x.png",
    "https://bucket.s3.amazonaws.com:444/x.png",
    "data:image/png;base64,AA==",
    "blob:https://cupel.example/1",
    "javascript:alert(1)",
    "/x.png",
    "",
  ]) {
    expect(isOwn(address)).toBe(false);
  }
  expect(isOwnAddress("https://other.example/", own, "")).toBe(false);
});
