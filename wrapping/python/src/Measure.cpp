// SPDX-License-Identifier: Apache-2.0
// Evaluates a metric for affine maps, without a registration.
#include "Arrays.h"
#include "Bindings.h"
#include "Cancel.h"
#include "Side.h"

#include "gpureg/core/Error.h"
#include "gpureg/transform/TransformChain.h"

#include "engine/metric/SimilarityChoices.h"
#include "engine/runtime/Backend.h"
#include "engine/core/Matrix3.h"
#include "engine/filter/LevelGeometry.h"
#include "engine/filter/LevelImage.h"
#include "engine/registration/LevelSamples.h"
#include "engine/registration/global/GlobalMeasure.h"
#include "kernels/core/Prelude.h"
#include "engine/image/RangedImage.h"
#include "engine/runtime/MakePasses.h"
#include "engine/runtime/Operation.h"

#include <nanobind/stl/array.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cmath>
#include <iterator>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace nb = nanobind;

namespace gpureg
{
namespace python
{

namespace
{
/** Ranges of the fixed and the moving image's values: see GlobalSettings. */
using Ranges = std::array<std::optional<ValueRange>, 2>;

/** Evaluates a metric of two images. */
class Measure
{
public:
  Measure(const std::string & device,
          int                 dimension,
          const Side &        fixed,
          const Side &        moving,
          const std::string & name,
          int                 bins,
          int                 radius,
          const Ranges &      ranges)
    : m_Backend(GetBackend(device))
    , m_Queue(m_Backend->CreateQueue())
    , m_Lines(MakePasses<LinePasses>(*m_Queue))
    , m_Fixed(*m_Queue, device)
    , m_Moving(*m_Queue, device)
    , m_FixedLevel(*m_Queue, device)
    , m_FixedMask(*m_Queue, device)
    , m_MovingLevel(*m_Queue, device)
    , m_MovingMask(*m_Queue, device)
    , m_Similarity(MakeSettings(name, bins, radius))
    , m_Measure(MakeGlobalMeasure(m_Similarity, device))
  {
    const ParallelFor            parallelFor = MakeInterruptibleParallelFor();
    const nb::gil_scoped_release released;
    const LevelMaker             maker{ *m_Queue, *m_Lines };
    constexpr Size               whole{ 1, 1, 1 };
    CheckImage(fixed.Get(), "fixed", device);
    CheckImage(moving.Get(), "moving", device);
    const auto make =
      [&](const Side & side, const char * which, auto & range, auto & ranged, auto & level, auto & mask) {
        const RegisteredImage given = side.Get();
        const RegisteredImage image = ranged.Make(given, which, FindValues(*m_Queue, given, which, range), m_Warnings);
        return MakeLevelImage(maker, image, which, whole, level, mask);
      };
    const auto [fixedImage, movingImage] = Operate(*m_Queue, parallelFor, [&] {
      const LevelImage ofFixed = make(fixed, "fixed", ranges[0], m_Fixed, m_FixedLevel, m_FixedMask);
      const LevelImage ofMoving = make(moving, "moving", ranges[1], m_Moving, m_MovingLevel, m_MovingMask);
      m_Queue->Finish();
      return std::make_pair(ofFixed, ofMoving);
    });
    m_FixedToPoint = fixedImage.toPoint;
    m_PointToMoving = InvertMap(movingImage.toPoint);
    m_Measure->SetImages(fixedImage,
                         movingImage,
                         MakeLevelSamples(fixedImage),
                         MakeLevelMoving(movingImage, dimension, this->HasForcesByIndex()),
                         parallelFor);
  }

  const std::vector<std::string> &
  GetWarnings() const
  {
    return m_Warnings;
  }

  /** Computes the values for many maps. \param maps of points: nine numbers of a matrix, row by row, and an offset each.
   *  \returns [map][2]: the value, not a number where it is not known; and of how many samples it is. */
  nb::object
  ComputeValues(const DoubleArray & maps)
  {
    if (maps.ndim() != 2 || maps.shape(1) != 12)
    {
      throw BadInputError("maps are to be an array [map][12]");
    }
    CheckSignals();
    const std::size_t          count = maps.shape(0);
    double *                   elements = nullptr;
    auto                       array = MakeArray<double>(elements, { count, 2 });
    std::vector<MeasuredValue> values;
    if (count > 0)
    {
      const ParallelFor            parallelFor = MakeInterruptibleParallelFor();
      const nb::gil_scoped_release released;
      const CandidateMaps          candidates{ static_cast<std::int64_t>(count),
                                      [&](std::int64_t first, std::int64_t number, IndexMap * out) {
                                        for (std::int64_t n = first; n < first + number; ++n)
                                        {
                                          *out++ = this->MakeIndexMap(ReadMap(maps.data() + 12 * n));
                                        }
                                      } };
      values = m_Measure->ComputeValues(candidates, parallelFor);
    }
    for (const MeasuredValue & value : values)
    {
      *elements++ = value.isKnown ? value.value : std::numeric_limits<double>::quiet_NaN();
      *elements++ = value.count;
    }
    return nb::cast(std::move(array));
  }

  /** Computes the value and its derivative. \param map of points, M·(x - centre) + centre + t.
   *  \returns the value, and its derivatives by M, by rows, and t. */
  nb::tuple
  ComputeDerivative(const IndexMap & map, const std::array<double, 3> & centre)
  {
    CheckSignals();
    const ParallelFor parallelFor = MakeInterruptibleParallelFor();
    MeasuredForces    measured;
    {
      const nb::gil_scoped_release released;
      measured = m_Measure->ComputeForces(this->MakeIndexMap(map), parallelFor);
    }
    double * elements = nullptr;
    auto     array = MakeArray<double>(elements, { 12 });
    for (std::size_t n = 0; n < 12; ++n)
    {
      elements[n] = measured.factor * SumAlong(measured.forces, this->ComputeChange(n, centre));
    }
    const double value = measured.isKnown ? measured.value : std::numeric_limits<double>::quiet_NaN();
    return nb::make_tuple(value, nb::cast(std::move(array)));
  }

private:
  static SimilaritySettings
  MakeSettings(const std::string & name, int bins, int radius)
  {
    const SimilaritySettings settings{ FindSimilarity("metric", name, nullptr), bins, radius };
    CheckSettings(settings);
    return settings;
  }

  bool
  HasForcesByIndex() const
  {
    return !Describe(m_Similarity.kind).HasNeighborhoods();
  }

  static IndexMap
  ReadMap(const double * numbers)
  {
    IndexMap map;
    std::copy(numbers, numbers + 9, map.matrix.begin());
    std::copy(numbers + 9, numbers + 12, map.offset.begin());
    return map;
  }

  IndexMap
  MakeIndexMap(const IndexMap & pointMap) const
  {
    return Compose(m_PointToMoving, Compose(pointMap, m_FixedToPoint));
  }

  /** Computes how a mapped sample changes with one number of the map of points: its index in the moving image, or its point, whichever the
   *  forces are derivatives with respect to.
   *  \param number 0 to 8: of the matrix, row by row, about the centre; 9 to 11: of the translation. */
  IndexMap
  ComputeChange(std::size_t number, const std::array<double, 3> & centre) const
  {
    IndexMap ofPoints;
    ofPoints.matrix = {};
    if (number < 9)
    {
      ofPoints.matrix[number] = 1;
      ofPoints.offset[number / 3] = -centre[number % 3];
    }
    else
    {
      ofPoints.offset[number - 9] = 1;
    }
    const IndexMap change = Compose(ofPoints, m_FixedToPoint);
    if (!this->HasForcesByIndex())
    {
      return change;
    }
    IndexMap toMoving = m_PointToMoving;
    toMoving.offset = {};
    return Compose(toMoving, change);
  }

  std::shared_ptr<Backend>       m_Backend;
  std::shared_ptr<Queue>         m_Queue;
  std::unique_ptr<LinePasses>    m_Lines;
  RangedImage                    m_Fixed;
  RangedImage                    m_Moving;
  ImageLevel                     m_FixedLevel;
  ImageLevel                     m_FixedMask;
  ImageLevel                     m_MovingLevel;
  ImageLevel                     m_MovingMask;
  SimilaritySettings             m_Similarity;
  std::unique_ptr<GlobalMeasure> m_Measure;
  IndexMap                       m_FixedToPoint;
  IndexMap                       m_PointToMoving;
  std::vector<std::string>       m_Warnings;
};
} // namespace

void
AddMeasure(nb::module_ & module)
{
  nb::class_<SimilarityDescription>(module, "SimilarityDescription")
    .def_prop_ro("name", [](const SimilarityDescription & similarity) { return similarity.name; })
    .def_prop_ro("least_bins", [](const SimilarityDescription & similarity) { return similarity.bins.least; })
    .def_prop_ro("most_bins", [](const SimilarityDescription & similarity) { return similarity.bins.most; })
    .def_prop_ro("usual_bins", [](const SimilarityDescription & similarity) { return similarity.bins.usual; })
    .def_prop_ro("has_bins", &SimilarityDescription::HasBins)
    .def_prop_ro("has_neighborhoods", &SimilarityDescription::HasNeighborhoods)
    .def_ro("is_for_global", &SimilarityDescription::isForGlobal)
    .def_ro("is_for_free_form", &SimilarityDescription::isForFreeForm)
    .def_ro("is_for_fields", &SimilarityDescription::isForFields);
  module.def("similarities",
             [] { return std::vector<SimilarityDescription>(std::begin(Similarities), std::end(Similarities)); });
  nb::class_<Measure>(module, "Measure")
    .def(
      nb::init<const std::string &, int, const Side &, const Side &, const std::string &, int, int, const Ranges &>(),
      nb::keep_alive<1, 4>(),
      nb::keep_alive<1, 5>())
    .def_prop_ro("warnings", &Measure::GetWarnings)
    .def("compute_values", &Measure::ComputeValues)
    .def("compute_derivative", &Measure::ComputeDerivative);
}

} // namespace python
} // namespace gpureg
