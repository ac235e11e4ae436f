// SPDX-License-Identifier: Apache-2.0
// The fields that registrations leave on the device, and what takes them there, against the same fields through the host; and what crosses
// the bus while a registration runs.
#include "DenseCase.h"

#include "gpureg/core/Error.h"
#include "gpureg/registration/free_form/FreeFormRegistration.h"
#include "gpureg/resample/Resampler.h"
#include "gpureg/transform/DeviceField.h"

#include <memory>
#include <utility>

namespace gpuregtest
{

namespace
{
using gpureg::DeformationField;
using gpureg::DeviceField;
using gpureg::DiffeomorphicScheme;

bool
IsHost(const std::string & device)
{
  return device == "host";
}

/** Says whether fields are read on the device without the host. */
bool
HasDoubles(const std::string & device)
{
  return gpureg::HasDoubles(device);
}

/** Returns the chain of a field on a device. */
gpureg::TransformChain
MakeChain(std::shared_ptr<const DeviceField> field)
{
  gpureg::TransformChain chain;
  chain.dimension = field->GetDescription().dimension;
  chain.Append(gpureg::MakeDisplacementGrid(std::move(field)));
  return chain;
}

/** Returns the chain of the same vectors on the host, which must outlive it. */
gpureg::TransformChain
MakeHostChain(const DeviceField & field, const Floats & vectors)
{
  gpureg::DisplacementGrid grid;
  grid.kind = gpureg::GridKind::Field;
  grid.size = field.GetDescription().size;
  grid.toGrid = gpureg::InvertMap(field.GetDescription().indexToPoint);
  grid.vectors = [&vectors](std::int64_t first, std::int64_t count, double * out) {
    std::copy_n(vectors.begin() + 3 * first, 3 * count, out);
  };
  gpureg::TransformChain chain;
  chain.dimension = field.GetDescription().dimension;
  chain.Append(grid);
  return chain;
}

struct Warped
{
  Floats       values;
  std::int64_t bytesUp;
};

/** Warps an image of a grid by a chain, on its own grid. \param mostMemory of the resampler, in bytes; 0: no limit */
Warped
Warp(const std::string &            device,
     const VoxelGrid &              grid,
     const Floats &                 image,
     const gpureg::TransformChain & chain,
     gpureg::Interpolation          interpolation = gpureg::Interpolation::Linear,
     std::size_t                    mostMemory = 0)
{
  Warped                warped{ Floats(image.size()), 0 };
  gpureg::Resampler     resampler(device);
  gpureg::ResampleInput input;
  input.size = grid.size;
  input.splineOrder = interpolation == gpureg::Interpolation::BSpline ? 3 : 0;
  input.values = [&image](std::int64_t first, std::int64_t count, void * out) {
    std::copy_n(image.begin() + first, count, static_cast<float *>(out));
  };
  gpureg::ResampleRequest request;
  request.size = grid.size;
  request.outputToPoint = grid.toPoint;
  request.transform = chain;
  request.pointToInput = gpureg::InvertMap(grid.toPoint);
  request.interpolation = interpolation;
  request.outside = { -5 };
  request.output = [&warped](std::int64_t first, std::int64_t count, const void * in) {
    std::copy_n(static_cast<const float *>(in), count, warped.values.begin() + first);
  };
  resampler.SetMaximumDeviceMemory(mostMemory);
  resampler.Resample(input, request, OnThreads(2));
  warped.bytesUp = resampler.GetStatistics().bytesUp;
  return warped;
}

/** Returns the fields of a scheme. */
std::vector<DeformationField>
ListFields(DiffeomorphicScheme scheme)
{
  switch (scheme)
  {
    case DiffeomorphicScheme::Greedy:
      return { DeformationField::Forward };
    case DiffeomorphicScheme::Velocity:
      return { DeformationField::Forward, DeformationField::Inverse };
    default:
      return { DeformationField::Forward,       DeformationField::Inverse,        DeformationField::FixedToMiddle,
               DeformationField::MiddleToFixed, DeformationField::MovingToMiddle, DeformationField::MiddleToMoving };
  }
}

class DenseFieldTest : public DenseTest
{};
} // namespace

TEST_P(DenseFieldTest, IsWhatTheHostTakes)
{
  for (const int dimension : { 2, 3 })
  {
    Pair                              pair(GetDevice(), dimension, 1.0);
    gpureg::DiffeomorphicRegistration registration(GetDevice());
    EXPECT_THROW(registration.GetField(OnThreads(2)), gpureg::BadInputError);
    registration.Register(pair.Load(), MakeSettings(), OnThreads(2));
    for (const DeformationField which : ListFields(GetScheme()))
    {
      SCOPED_TRACE(std::to_string(dimension) + "D, field " + std::to_string(static_cast<int>(which)));
      const Floats expected = TakeField(registration, registration.CountVoxels(), which);
      const auto   field = registration.GetField(OnThreads(2), which);
      const auto   statistics = registration.GetStatistics();
      EXPECT_EQ(statistics.bytesUp, 0);
      // The largest component, and lengths by which a velocity's exponential is scaled.
      EXPECT_LE(statistics.bytesDown, 16);
      EXPECT_EQ(statistics.bytesDown > 0, !IsHost(GetDevice()));
      EXPECT_EQ(field->GetDeviceName(), GetDevice());
      EXPECT_EQ(field->GetDescription().dimension, dimension);
      EXPECT_EQ(field->GetDescription().size, pair.grid.size);
      EXPECT_EQ(field->GetDescription().indexToPoint.matrix, pair.grid.toPoint.matrix);
      EXPECT_EQ(field->GetDescription().indexToPoint.offset, pair.grid.toPoint.offset);
      EXPECT_EQ(field->GetDescription().largest, ComputeLargest(expected));
      EXPECT_GT(field->GetDescription().largest, 0.1);
      EXPECT_TRUE(Take(*field) == expected);
    }
    EXPECT_THROW(registration.GetField(OnThreads(2), static_cast<DeformationField>(17)), gpureg::BadInputError);
    if (GetScheme() == DiffeomorphicScheme::Greedy)
    {
      EXPECT_THROW(registration.GetField(OnThreads(2), DeformationField::Inverse), gpureg::BadInputError);
      EXPECT_THROW(registration.GetInverse(OnThreads(2)), gpureg::BadInputError);
      continue;
    }
    gpureg::InverseErrors errors;
    const Floats          expected = TakeInverse(registration, registration.CountVoxels(), errors);
    const std::int64_t    taken = registration.GetStatistics().bytesDown;
    const auto            inverse = registration.GetInverse(OnThreads(2));
    EXPECT_TRUE(Take(*inverse.field) == expected);
    EXPECT_EQ(inverse.errors.mean, errors.mean);
    EXPECT_EQ(inverse.errors.largest, errors.largest);
    EXPECT_EQ(inverse.errors.offVoxels, errors.offVoxels);
    EXPECT_EQ(inverse.errors.unmappedVoxels, errors.unmappedVoxels);
    EXPECT_EQ(inverse.errors.foldedVoxels, errors.foldedVoxels);
    if (!IsHost(GetDevice()))
    {
      const auto ofField = static_cast<std::int64_t>(expected.size() * sizeof(float));
      EXPECT_EQ(registration.GetStatistics().bytesDown, taken - ofField + static_cast<std::int64_t>(sizeof(float)));
    }
  }
}

/** Fields that are given away while levels go on are those of the current iteration, and change nothing. */
TEST_P(DenseFieldTest, IsGivenAwayWhileLevelsGoOn)
{
  Pair                              pair(GetDevice(), 3, 1.0);
  const auto                        problem = pair.Load();
  gpureg::DiffeomorphicRegistration registration(GetDevice());
  const Floats                      expected = RegisterDense(registration, problem, MakeSettings()).field;
  int                               fields = 0;
  const auto                        give = [&](const gpureg::DiffeomorphicProgress &) {
    const auto field = registration.GetField(OnThreads(2));
    EXPECT_TRUE(Take(*field) == TakeField(registration, registration.CountVoxels()));
    ++fields;
  };
  registration.Register(problem, MakeSettings(), OnThreads(2), give, give);
  EXPECT_EQ(fields, 12);
  const auto field = registration.GetField(OnThreads(2));
  EXPECT_TRUE(Take(*field) == expected);
  // And the array that was given away is made again.
  EXPECT_TRUE(RegisterDense(registration, problem, MakeSettings()).field == expected);
}

TEST_P(DenseFieldTest, WarpsWithoutTheHost)
{
  for (const int dimension : { 2, 3 })
  {
    Pair                              pair(GetDevice(), dimension, 1.0);
    gpureg::DiffeomorphicRegistration registration(GetDevice());
    registration.Register(pair.Load(), MakeSettings(), OnThreads(2));
    const auto   field = registration.GetField(OnThreads(2));
    const Floats vectors = Take(*field);
    for (const auto interpolation : { gpureg::Interpolation::Linear, gpureg::Interpolation::BSpline })
    {
      const auto onDevice = Warp(GetDevice(), pair.grid, pair.moving, MakeChain(field), interpolation);
      const auto onHost = Warp(GetDevice(), pair.grid, pair.moving, MakeHostChain(*field, vectors), interpolation);
      EXPECT_TRUE(onDevice.values == onHost.values) << dimension;
      EXPECT_FALSE(onDevice.values == pair.moving) << dimension;
      if (!IsHost(GetDevice()) && HasDoubles(GetDevice()))
      {
        // Four floats a vector.
        EXPECT_EQ(onHost.bytesUp - onDevice.bytesUp, static_cast<std::int64_t>(16 * vectors.size() / 3)) << dimension;
        EXPECT_LE(onDevice.bytesUp, static_cast<std::int64_t>(sizeof(float) * pair.moving.size() + 4096)) << dimension;
      }
    }
  }
}

TEST_P(DenseFieldTest, WarpsWhereMemoryIsShort)
{
  Pair                              pair(GetDevice(), 3, 1.0);
  gpureg::DiffeomorphicRegistration registration(GetDevice());
  registration.Register(pair.Load(), MakeSettings(), OnThreads(2));
  const auto        field = registration.GetField(OnThreads(2));
  const Floats      expected = Warp(GetDevice(), pair.grid, pair.moving, MakeChain(field)).values;
  const std::size_t bytes = pair.moving.size() * sizeof(float);
  // Slabs of the image, and planes of the field.
  for (const std::size_t most : { 2 * bytes, 3 * bytes, 5 * bytes })
  {
    const Floats values =
      Warp(GetDevice(), pair.grid, pair.moving, MakeChain(field), gpureg::Interpolation::Linear, most).values;
    EXPECT_TRUE(values == expected) << most;
  }
}

TEST_P(DenseFieldTest, OutlivesItsRegistration)
{
  Pair                               pair(GetDevice(), 3, 1.0);
  const auto                         problem = pair.Load();
  const std::size_t                  before = gpureg::GetMemoryInUse(GetDevice());
  std::shared_ptr<const DeviceField> field;
  Floats                             expected;
  {
    gpureg::DiffeomorphicRegistration registration(GetDevice());
    registration.Register(problem, MakeSettings(), OnThreads(2));
    expected = TakeField(registration, registration.CountVoxels());
    const std::size_t held = gpureg::GetMemoryInUse(GetDevice());
    field = registration.GetField(OnThreads(2));
    // It has an array of the registration's.
    EXPECT_EQ(gpureg::GetMemoryInUse(GetDevice()), held);
    auto other = registration.GetField(OnThreads(2));
    EXPECT_EQ(other->GetAccountBytes(), expected.size() * sizeof(float));
    // This one has the place of what the images were compared by, and a further one takes more.
    const std::size_t heldByBoth = gpureg::GetMemoryInUse(GetDevice());
    EXPECT_LT(heldByBoth, held);
    auto further = registration.GetField(OnThreads(2));
    EXPECT_EQ(gpureg::GetMemoryInUse(GetDevice()), heldByBoth + further->GetAccountBytes());
    EXPECT_TRUE(Take(*other) == expected && Take(*further) == expected);
    further.reset();
    EXPECT_EQ(gpureg::GetMemoryInUse(GetDevice()), heldByBoth);
    other.reset();
    EXPECT_EQ(gpureg::GetMemoryInUse(GetDevice()), heldByBoth - field->GetAccountBytes());
    // Another result of the same engine.
    auto settings = MakeSettings();
    settings.iterations = { 3 };
    settings.step = 0.1;
    registration.Register(problem, settings, OnThreads(2));
    EXPECT_FALSE(TakeField(registration, registration.CountVoxels()) == expected);
    EXPECT_TRUE(Take(*field) == expected);
  }
  EXPECT_EQ(gpureg::GetMemoryInUse(GetDevice()), before + field->GetAccountBytes());
  EXPECT_TRUE(Take(*field) == expected);
  const auto chain = std::make_unique<gpureg::TransformChain>(MakeChain(field));
  field.reset();
  Warp(GetDevice(), pair.grid, pair.moving, *chain);
  EXPECT_EQ(gpureg::GetMemoryInUse(GetDevice()), before + expected.size() * sizeof(float));
  chain->steps.clear();
  EXPECT_EQ(gpureg::GetMemoryInUse(GetDevice()), before);
}

TEST_P(DenseFieldTest, BeginsOtherRegistrations)
{
  Pair                              pair(GetDevice(), 3, 1.0);
  auto                              problem = pair.Load();
  gpureg::DiffeomorphicRegistration registration(GetDevice());
  auto                              settings = MakeSettings();
  settings.iterations = { 2 };
  registration.Register(problem, settings, OnThreads(2));
  const auto   field = registration.GetField(OnThreads(2));
  const Floats vectors = Take(*field);
  const auto   ofVectors = static_cast<std::int64_t>(16 * vectors.size() / 3);
  const bool   isCounted = !IsHost(GetDevice()) && HasDoubles(GetDevice());
  const auto   proceed = [&](const gpureg::TransformChain & chain) {
    problem.initial = chain;
    const auto result = RegisterDense(registration, problem, settings);
    return result.field;
  };
  const auto count = [&](const gpureg::TransformChain & chain) {
    problem.initial = chain;
    registration.Register(problem, settings, OnThreads(2));
    return registration.GetStatistics().bytesUp;
  };
  const Floats expected = proceed(MakeHostChain(*field, vectors));
  EXPECT_TRUE(proceed(MakeChain(field)) == expected);
  EXPECT_GT(ComputeLargest(expected), 0.01);
  if (isCounted)
  {
    EXPECT_EQ(count(MakeHostChain(*field, vectors)) - count(MakeChain(field)), ofVectors);
  }

  gpureg::FreeFormRegistration freeForm(GetDevice());
  const auto                   deform = [&](const gpureg::TransformChain & chain) {
    gpureg::FreeFormProblem  next{ 3, problem.fixed, problem.moving, chain, {} };
    gpureg::FreeFormSettings asked;
    asked.levels = 1;
    asked.iterations = 3;
    freeForm.Register(next, asked, OnThreads(2));
    const std::int64_t bytes = freeForm.GetStatistics().bytesUp;
    Floats             deformation(vectors.size());
    freeForm.TakeDisplacements(
      [&deformation](std::int64_t first, std::int64_t number, const float * in) {
        std::copy_n(in, 3 * number, deformation.begin() + 3 * first);
      },
      OnThreads(2));
    return std::pair{ deformation, bytes };
  };
  // The first one uploads the edges of bins.
  deform(MakeHostChain(*field, vectors));
  const auto throughHost = deform(MakeHostChain(*field, vectors));
  const auto onDevice = deform(MakeChain(field));
  EXPECT_TRUE(onDevice.first == throughHost.first);
  if (isCounted)
  {
    EXPECT_EQ(throughHost.second - onDevice.second, ofVectors);
  }
}

TEST_P(DenseFieldTest, IsInvertedWithoutTheHost)
{
  Pair                              pair(GetDevice(), 3, 1.0);
  gpureg::DiffeomorphicRegistration registration(GetDevice());
  registration.Register(pair.Load(), MakeSettings(), OnThreads(2));
  const auto            field = registration.GetField(OnThreads(2));
  const Floats          vectors = Take(*field);
  gpureg::FieldInverter inverter(GetDevice());
  const auto            invert = [&](const gpureg::TransformChain & chain) {
    Floats                    inverse(vectors.size());
    gpureg::TransformToInvert request;
    request.transform = chain;
    request.size = pair.grid.size;
    request.indexToPoint = pair.grid.toPoint;
    request.take = [&inverse](std::int64_t first, std::int64_t count, const float * in) {
      std::copy_n(in, 3 * count, inverse.begin() + 3 * first);
    };
    inverter.Invert(request, OnThreads(2));
    return std::pair{ inverse, inverter.GetStatistics().bytesUp };
  };
  const auto throughHost = invert(MakeHostChain(*field, vectors));
  const auto onDevice = invert(MakeChain(field));
  EXPECT_TRUE(onDevice.first == throughHost.first);
  EXPECT_GT(ComputeLargest(onDevice.first), 0.1);
  if (!IsHost(GetDevice()) && HasDoubles(GetDevice()))
  {
    EXPECT_EQ(throughHost.second - onDevice.second, static_cast<std::int64_t>(16 * vectors.size() / 3));
  }
}

TEST_P(DenseFieldTest, ServesOtherDevices)
{
  Pair                              pair(GetDevice(), 3, 1.0);
  gpureg::DiffeomorphicRegistration registration(GetDevice());
  registration.Register(pair.Load(), MakeSettings(), OnThreads(2));
  const auto   field = registration.GetField(OnThreads(2));
  const Floats vectors = Take(*field);
  for (const std::string & device : GetAllDeviceNames())
  {
    EXPECT_TRUE(Warp(device, pair.grid, pair.moving, MakeChain(field)).values ==
                Warp(device, pair.grid, pair.moving, MakeHostChain(*field, vectors)).values)
      << device;
  }
}

/** More iterations transfer some numbers each: whether SyN's inversions have ended, for which the host waits, and costs. They allocate
 *  nothing, also with a mask of one image, with which the other one exchanges its role. A field has 500 kB here. */
TEST_P(DenseFieldTest, OnlyScalarsCrossTheBusInALevelOnceItHasBegun)
{
  using gpureg::SimilarityKind;
  struct Case
  {
    SimilarityKind kind;
    int            window;
    bool           isFixedMasked;
    bool           isMovingMasked;
  };
  for (const auto & [kind, window, isFixedMasked, isMovingMasked] :
       { Case{ SimilarityKind::NeighborhoodCorrelation, 0, false, false },
         Case{ SimilarityKind::NeighborhoodCorrelation, 10, false, false },
         Case{ SimilarityKind::NeighborhoodCorrelation, 0, true, false },
         Case{ SimilarityKind::MattesMutualInformation, 0, false, false },
         Case{ SimilarityKind::MattesMutualInformation, 0, true, false },
         Case{ SimilarityKind::MattesMutualInformation, 0, false, true },
         Case{ SimilarityKind::MattesMutualInformation, 0, true, true },
         Case{ SimilarityKind::NormalizedMutualInformation, 0, false, false },
         Case{ SimilarityKind::MeanSquares, 0, false, false },
         Case{ SimilarityKind::MeanSquares, 0, false, true },
         Case{ SimilarityKind::Correlation, 0, false, false },
         Case{ SimilarityKind::Demons, 0, false, false },
         Case{ SimilarityKind::CorrelationRatio, 0, false, false } })
  {
    if (IsHost(GetDevice()) && (isFixedMasked || isMovingMasked))
    {
      continue; // The same arrays are kept there, and an iteration takes long.
    }
    SCOPED_TRACE(std::string(gpureg::GetName(kind)) + ", window " + std::to_string(window) +
                 (isFixedMasked ? ", a fixed mask" : "") + (isMovingMasked ? ", a moving mask" : ""));
    // A field of it has 80,000 bytes, and an iteration may copy 512.
    VoxelGrid grid = MakeGrid(3, 1.0);
    grid.size = { 21, 19, 17 };
    Pair                pair(GetDevice(), grid, 1.0);
    gpureg::LoadedImage mask(GetDevice());
    const Floats        inside(static_cast<std::size_t>(gpureg::CountOf(pair.grid.size)), 1.0F);
    mask.Load({}, gpureg::Precision::Single, inside.data(), gpureg::CountOf(pair.grid.size), OnThreads(2));
    auto settings = MakeSettings(kind);
    settings.convergenceWindow = window;
    settings.convergenceThreshold = 0;
    gpureg::DiffeomorphicRegistration registration(GetDevice());
    auto                              problem = pair.Load();
    problem.fixed.mask = isFixedMasked ? &mask : nullptr;
    problem.moving.mask = isMovingMasked ? &mask : nullptr;
    const auto run = [&](int iterations) {
      settings.iterations = { iterations };
      const auto result = registration.Register(problem, settings, OnThreads(2));
      EXPECT_EQ(result.levels.back().costs.size(), static_cast<std::size_t>(iterations));
      return registration.GetStatistics();
    };
    run(18);
    const auto few = run(6);
    const auto many = run(18);
    EXPECT_EQ(few.bytesUp > 0, !IsHost(GetDevice()));
    EXPECT_LE(many.bytesUp - few.bytesUp, 12 * 512);
    EXPECT_LE(many.bytesDown - few.bytesDown, 12 * 512);
    EXPECT_EQ(many.allocations, few.allocations);
    // Inversions may ask twice or three times; the device is not to be more than some iterations behind, for which the host waits once an
    // iteration at most, and not at all where the device keeps up: then the few iterations have had no wait.
    const int ofInversions = GetScheme() == DiffeomorphicScheme::SyN ? 3 : 0;
    EXPECT_LE(many.synchronizations - few.synchronizations, 18 * (ofInversions + (window > 0 ? 2 : 1)));
    if (std::getenv("GPUREG_TEST_PRINT") != nullptr)
    {
      std::cout << gpureg::GetName(kind) << " " << window << ": up " << many.bytesUp - few.bytesUp << ", down "
                << many.bytesDown - few.bytesDown << ", waits " << many.synchronizations - few.synchronizations
                << ", launches " << many.launches - few.launches << '\n';
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Devices, DenseFieldTest, AllDevicesAndSchemes(), GetNameOfDeviceAndScheme);

} // namespace gpuregtest
